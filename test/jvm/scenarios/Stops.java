package scenarios;

import java.util.Arrays;
import java.util.Random;

/**
 * Threads are stopped, again and again, while they contend deep in a stack of
 * synchronized and other frames; wherever the exception arrives, the return barriers go
 * with the frames, and no lock is kept.
 *
 * <p>Arguments: how often each thread is stopped, and the seed of random numbers.
 *
 * <p>The trace must show waits of the threads {@code victim-N} for locks of this
 * class, in {@link #lock} called by {@link #descend} all the way down to {@link
 * Victim#run}.
 *
 * <p>Prints {@code stopped COUNT}.
 */
public final class Stops {
    private static final int VICTIMS = 3;
    private static final int MAX_DEPTH = 20;
    private static final int MAX_PAUSE_NANOS = 3_000_000;

    private final Stops[] locks;
    private int entered;

    private Stops(Stops[] locks) {
        this.locks = locks;
    }

    @SuppressWarnings("deprecation")
    public static void main(String[] args) throws InterruptedException {
        // Or recursion, inlined, leaves few frames for a return barrier.
        Compilation.keepApart(Stops.class);
        int stops = Integer.parseInt(args[0]);
        Random random = new Random(Long.parseLong(args[1]));
        Stops[] locks = new Stops[2];
        locks[0] = new Stops(locks);
        locks[1] = new Stops(locks);
        Victim[] victims = new Victim[VICTIMS];
        for (int i = 0; i < VICTIMS; i++) {
            victims[i] = new Victim("victim-" + i, locks, random.nextLong());
            victims[i].start();
        }
        for (int stop = 1; stop <= stops; stop++) {
            for (Victim victim : victims) {
                while (!victim.ready) {
                    Contender.sleep();
                }
                Held.nanos(random.nextInt(MAX_PAUSE_NANOS));
                victim.stop();
                while (victim.stopped != stop) {
                    Contender.sleep();
                }
            }
        }
        for (Victim victim : victims) {
            victim.finished = true;
            victim.join();
        }
        System.out.println("stopped " + stops * VICTIMS);
    }

    /** The plain frames of the stack; locks at its end, and on the way what nobody else wants. */
    void descend(int depth) {
        if (depth == 0) {
            lock();
        } else if (depth % 5 == 0) {
            synchronized (Thread.currentThread()) {
                entered++;
                descend(depth - 1);
            }
        } else {
            try {
                descend(depth - 1);
            } finally {
                entered++;
            }
        }
    }

    synchronized void lock() {
        entered++;
        Thread.yield();
    }

    private static final class Victim extends Thread {
        private final Stops[] locks;
        private final Random random;
        private volatile boolean ready;
        private volatile boolean finished;
        private volatile int stopped;

        Victim(String name, Stops[] locks, long seed) {
            super(name);
            this.locks = locks;
            random = new Random(seed);
        }

        /** Stopped only when ready, and from then on in the try block until that has happened. */
        @Override
        public void run() {
            while (!finished) {
                try {
                    ready = true;
                    while (!finished) {
                        locks[random.nextInt(locks.length)].descend(random.nextInt(MAX_DEPTH));
                    }
                } catch (ThreadDeath e) {
                    checkLocks();
                    ready = false;
                    stopped++;
                }
            }
        }

        private void checkLocks() {
            if (holdsLock(this) || Arrays.stream(locks).anyMatch(Thread::holdsLock)) {
                throw new AssertionError("a lock is still held");
            }
        }
    }
}
