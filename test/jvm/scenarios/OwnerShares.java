package scenarios;

import java.util.Arrays;

/**
 * Four threads share one lock and hold it for times in the ratio 1 : 2 : 4 : 8,
 * each in a method of its own, {@code ownerA} to {@code ownerD}.
 *
 * <p>Arguments: the kind of lock (a class below), the shortest hold time in
 * microseconds, the number of turns of each thread.
 *
 * <p>Prints every turn: {@code turn THREAD METHOD WANTED_NS ACQUIRED_NS
 * RELEASED_NS}. From these the checker computes how long each method kept
 * others waiting, and compares that with what the trace blames on it.
 */
public final class OwnerShares {
    private static final int WARM_UP = 12_000;
    private static final long THINK_NANOS = 100_000;
    private static final int GARBAGE_BYTES = 1 << 18;

    private OwnerShares() {}

    public static void main(String[] args) throws Exception {
        Owners owners = (Owners) Class.forName("scenarios.OwnerShares$" + args[0]).newInstance();
        long unitNanos = Long.parseLong(args[1]) * 1_000;
        int turns = Integer.parseInt(args[2]);

        Turn noTime = new Turn(0);
        for (int i = 0; i < WARM_UP; i++) {
            for (int method = 0; method < 4; method++) {
                owners.take(noTime, method);
            }
        }

        OwnerThread[] threads = new OwnerThread[4];
        for (int method = 0; method < threads.length; method++) {
            threads[method] = new OwnerThread(owners, method, unitNanos << method, turns);
        }
        for (OwnerThread thread : threads) {
            thread.start();
        }
        for (OwnerThread thread : threads) {
            thread.join();
        }
        for (OwnerThread thread : threads) {
            thread.print();
        }
    }

    private static final class OwnerThread extends Thread {
        private final Owners owners;
        private final int method;
        private final Turn[] turns;
        private byte[] garbage;

        OwnerThread(Owners owners, int method, long holdNanos, int turns) {
            super("owner-" + letter(method));
            this.owners = owners;
            this.method = method;
            this.turns = new Turn[turns];
            Arrays.setAll(this.turns, i -> new Turn(holdNanos));
        }

        @Override
        public void run() {
            for (Turn turn : turns) {
                garbage = new byte[GARBAGE_BYTES]; // lets the collector stop the threads now and then
                Held.nanos(THINK_NANOS);
                turn.want();
                owners.take(turn, method);
            }
        }

        void print() {
            for (Turn turn : turns) {
                System.out.println("turn " + getName() + " owner" + letter(method) + " " + turn);
            }
        }

        private static char letter(int method) {
            return (char) ('A' + method);
        }
    }

    /** Four methods that hold the same lock while {@code turn} runs. */
    abstract static class Owners {
        abstract void ownerA(Turn turn);

        abstract void ownerB(Turn turn);

        abstract void ownerC(Turn turn);

        abstract void ownerD(Turn turn);

        final void take(Turn turn, int method) {
            switch (method) {
                case 0:
                    ownerA(turn);
                    break;
                case 1:
                    ownerB(turn);
                    break;
                case 2:
                    ownerC(turn);
                    break;
                default:
                    ownerD(turn);
            }
        }
    }

    /** Synchronized blocks on an object. */
    static final class Block extends Owners {
        @Override
        void ownerA(Turn turn) {
            synchronized (this) {
                turn.run();
            }
        }

        @Override
        void ownerB(Turn turn) {
            synchronized (this) {
                turn.run();
            }
        }

        @Override
        void ownerC(Turn turn) {
            synchronized (this) {
                turn.run();
            }
        }

        @Override
        void ownerD(Turn turn) {
            synchronized (this) {
                turn.run();
            }
        }
    }

    /** Synchronized methods. */
    static final class Method extends Owners {
        @Override
        synchronized void ownerA(Turn turn) {
            turn.run();
        }

        @Override
        synchronized void ownerB(Turn turn) {
            turn.run();
        }

        @Override
        synchronized void ownerC(Turn turn) {
            turn.run();
        }

        @Override
        synchronized void ownerD(Turn turn) {
            turn.run();
        }
    }

    /** Static synchronized methods, which lock their class. */
    static final class StaticMethod extends Owners {
        @Override
        void ownerA(Turn turn) {
            lockedByA(turn);
        }

        @Override
        void ownerB(Turn turn) {
            lockedByB(turn);
        }

        @Override
        void ownerC(Turn turn) {
            lockedByC(turn);
        }

        @Override
        void ownerD(Turn turn) {
            lockedByD(turn);
        }

        private static synchronized void lockedByA(Turn turn) {
            turn.run();
        }

        private static synchronized void lockedByB(Turn turn) {
            turn.run();
        }

        private static synchronized void lockedByC(Turn turn) {
            turn.run();
        }

        private static synchronized void lockedByD(Turn turn) {
            turn.run();
        }
    }

    /** Synchronized native methods. */
    static final class NativeMethod extends Owners {
        static {
            Natives.load();
        }

        @Override
        synchronized native void ownerA(Turn turn);

        @Override
        synchronized native void ownerB(Turn turn);

        @Override
        synchronized native void ownerC(Turn turn);

        @Override
        synchronized native void ownerD(Turn turn);
    }

    /** JNI's MonitorEnter and MonitorExit. */
    static final class Jni extends Owners {
        static {
            Natives.load();
        }

        @Override
        void ownerA(Turn turn) {
            lockAround(turn);
        }

        @Override
        void ownerB(Turn turn) {
            lockAround(turn);
        }

        @Override
        void ownerC(Turn turn) {
            lockAround(turn);
        }

        @Override
        void ownerD(Turn turn) {
            lockAround(turn);
        }

        private native void lockAround(Turn turn);
    }

    /** {@code Unsafe.monitorEnter} and {@code monitorExit}. */
    @SuppressWarnings("deprecation")
    static final class UnsafeMethods extends Owners {
        private static final sun.misc.Unsafe UNSAFE = UnsafeMonitor.theUnsafe();

        @Override
        void ownerA(Turn turn) {
            UNSAFE.monitorEnter(this);
            turn.run();
            UNSAFE.monitorExit(this);
        }

        @Override
        void ownerB(Turn turn) {
            UNSAFE.monitorEnter(this);
            turn.run();
            UNSAFE.monitorExit(this);
        }

        @Override
        void ownerC(Turn turn) {
            UNSAFE.monitorEnter(this);
            turn.run();
            UNSAFE.monitorExit(this);
        }

        @Override
        void ownerD(Turn turn) {
            UNSAFE.monitorEnter(this);
            turn.run();
            UNSAFE.monitorExit(this);
        }
    }
}
