package scenarios;

/**
 * Threads return from {@link Object#wait} in each way that there is, while the
 * JVM counts and times how they are blocked; {@link CountedThread} prints that.
 *
 * <ul>
 *   <li>Listeners are notified by a ringer, which keeps the lock for a while,
 *       and takes it once more. A visitor gets in between.
 *   <li>An impatient guest waits for a millisecond only, and a sleeping one until
 *       it is interrupted, while a host has the lock that they have to get back.
 * </ul>
 *
 * <p>To the JVM, a notified thread is blocked from the moment when another one
 * notifies it, asleep as it is, and also if nobody has the lock any more when it
 * wakes up. In the trace it is blocked once it has woken up and failed to get the
 * lock. So the JVM must count, for each thread, the waits in the trace, except
 * that it counts all returns of a listener, whether or not they are among them.
 */
public final class NotifiedTimes {
    private static final int LISTENERS = 3;
    private static final int ROUNDS = 120;
    private static final long HOLD_NANOS = 1_500_000;
    private static final long PAUSE_NANOS = 200_000;

    private final Bell bell = new Bell();
    private final Room room = new Room();

    private NotifiedTimes() {}

    public static void main(String[] args) throws InterruptedException {
        new NotifiedTimes().run();
    }

    private void run() throws InterruptedException {
        SleepingGuest sleeping = new SleepingGuest();
        CountedThread.runAll(new Listener(0), new Listener(1), new Listener(2), new Ringer(), new Visitor(),
                new ImpatientGuest(), sleeping, new Host(sleeping));
    }

    private static final class Bell {
        private int listeners;
        private int rings;
        private long ringsAt;
        private long rungAt;
        private long heldUntil;

        synchronized void listen(CountedThread listener) throws InterruptedException {
            int heard = rings;
            listeners++;
            while (rings == heard) {
                wait();
            }
            listener.wasNotified(heldUntil - rungAt, System.nanoTime() - ringsAt);
            hold(HOLD_NANOS / LISTENERS);
        }

        /** Returns false if not all are listening yet. */
        synchronized boolean ring() {
            if (listeners < LISTENERS) {
                return false;
            }
            ringsAt = System.nanoTime();
            if (rings % 2 == 0) {
                notifyAll();
            } else {
                for (int i = 0; i < LISTENERS; i++) {
                    notify();
                }
            }
            rungAt = System.nanoTime();
            listeners = 0;
            rings++;
            hold(HOLD_NANOS);
            return true;
        }

        synchronized boolean isWorn() {
            hold(HOLD_NANOS);
            return rings == ROUNDS;
        }

        /** Nobody else gets the lock before the time that is noted at the end. */
        private void hold(long nanos) {
            Held.nanos(nanos);
            heldUntil = System.nanoTime();
        }
    }

    private final class Listener extends CountedThread {
        Listener(int number) {
            super("listener-" + number);
        }

        @Override
        void work() throws InterruptedException {
            for (int round = 0; round < ROUNDS; round++) {
                bell.listen(this);
            }
        }
    }

    private final class Ringer extends CountedThread {
        Ringer() {
            super("ringer");
        }

        @Override
        void work() {
            do {
                while (!bell.ring()) {
                    Held.nanos(PAUSE_NANOS);
                }
            } while (!bell.isWorn());
        }
    }

    private final class Visitor extends CountedThread {
        Visitor() {
            super("visitor");
        }

        @Override
        void work() {
            while (!bell.isWorn()) {
                Held.nanos(PAUSE_NANOS);
            }
        }
    }

    private static final class Room {
        private int guests = 2;
        private boolean isAsleep;

        synchronized void waitBriefly() throws InterruptedException {
            wait(1);
            Held.nanos(HOLD_NANOS);
        }

        synchronized void waitForInterrupt() {
            isAsleep = true;
            try {
                wait();
            } catch (InterruptedException expected) {
                isAsleep = false;
                Held.nanos(HOLD_NANOS);
            }
        }

        synchronized void leave() {
            guests--;
        }

        /** Returns false if all guests have left. */
        synchronized boolean occupy(Thread sleeping) {
            if (isAsleep) {
                sleeping.interrupt();
            }
            Held.nanos(2 * HOLD_NANOS); // both guests wait for the lock by now
            return guests > 0;
        }
    }

    private final class ImpatientGuest extends CountedThread {
        ImpatientGuest() {
            super("impatient");
        }

        @Override
        void work() throws InterruptedException {
            for (int round = 0; round < ROUNDS; round++) {
                room.waitBriefly();
            }
            room.leave();
        }
    }

    private final class SleepingGuest extends CountedThread {
        SleepingGuest() {
            super("sleeping");
        }

        @Override
        void work() {
            for (int round = 0; round < ROUNDS; round++) {
                room.waitForInterrupt();
            }
            room.leave();
        }
    }

    private final class Host extends CountedThread {
        private final Thread sleeping;

        Host(Thread sleeping) {
            super("host");
            this.sleeping = sleeping;
        }

        @Override
        void work() {
            while (room.occupy(sleeping)) {
                Held.nanos(PAUSE_NANOS);
            }
        }
    }
}
