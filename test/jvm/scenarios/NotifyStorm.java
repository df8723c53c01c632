package scenarios;

import java.util.concurrent.locks.LockSupport;

/**
 * Many threads wait, half of them with a time limit. In each round the thread
 * "main" takes the lock, keeps it until all that have a limit are awake and
 * blocked, notifies all, and keeps the lock a little longer.
 *
 * <p>The trace must show one wait of each thread with a limit, "timed-0" to
 * "timed-7", in each of ten rounds in which main blocked it, in {@link #storm}.
 * The others, "patient-0" to "patient-7", are asleep until main has let go: they
 * block each other, but main blocks none of them.
 */
public final class NotifyStorm {
    private static final int WAITERS = 8;
    private static final int ROUNDS = 10;
    private static final long LIMIT_MILLIS = 20;
    private static final long HOLD_NANOS = 5_000_000;

    private final Thread[] timed = new Thread[WAITERS];
    private final Thread[] patient = new Thread[WAITERS];
    private int finishedRounds;
    private volatile int arrivals;

    private NotifyStorm() {}

    public static void main(String[] args) throws InterruptedException {
        new NotifyStorm().run();
    }

    private void run() throws InterruptedException {
        start(timed, "timed-", LIMIT_MILLIS);
        start(patient, "patient-", 0);
        for (int round = 0; round < ROUNDS; round++) {
            // A thread that has the lock again, but has not left wait() yet, still seems to wait.
            while (arrivals < (round + 1) * 2 * WAITERS) {
                LockSupport.parkNanos(100_000);
            }
            await(Thread.State.TIMED_WAITING, timed);
            await(Thread.State.WAITING, patient);
            storm(); // @storm
        }
    }

    private synchronized void storm() {
        await(Thread.State.BLOCKED, timed); // @enter
        finishedRounds++;
        notifyAll();
        Held.nanos(HOLD_NANOS);
    } // @leave

    private void start(Thread[] threads, String name, long limitMillis) {
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> waitThroughRounds(limitMillis), name + i);
            threads[i].start();
        }
    }

    private void waitThroughRounds(long limitMillis) {
        for (int round = 0; round < ROUNDS; round++) {
            awaitEnd(round, limitMillis);
        }
    }

    private synchronized void awaitEnd(int round, long limitMillis) {
        arrivals++;
        while (finishedRounds <= round) {
            try {
                wait(limitMillis);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static void await(Thread.State state, Thread... threads) {
        for (Thread thread : threads) {
            while (thread.getState() != state) {
                LockSupport.parkNanos(100_000);
            }
        }
    }
}
