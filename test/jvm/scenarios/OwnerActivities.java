package scenarios;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread owns a lock that another one waits for, and meanwhile runs, waits for another lock, waits
 * for another thread, parks for some time, and sleeps.
 *
 * <p>Prints how long each took, by the clock of these two.
 */
public final class OwnerActivities {
    private static final long MILLIS = 60;

    private static final class Lock {
    }

    private static final class Other {
    }

    private final Object lock = new Lock();
    private final Object other = new Other();
    private final CountDownLatch otherOwned = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread owner = new Thread(this::own, "owner");
    private final Thread waiter = new Thread(this::use, "waiter");
    private final Thread holder = new Thread(this::hold, "holder");
    private final long[] times = new long[4];
    private long wanted;
    private long acquired;
    private int used;

    private OwnerActivities() {
    }

    public static void main(String[] args) throws InterruptedException {
        new OwnerActivities().run();
    }

    private void run() throws InterruptedException {
        holder.start();
        otherOwned.await();
        owner.start();
        await(owner, Thread.State.WAITING);
        Thread.sleep(MILLIS);
        done.countDown();
        owner.join();
        waiter.join();
        holder.join();
        // The owner ran from when the waiter came until it waited itself, and from when it was
        // awake again, for it sleeps then, until the waiter had the lock.
        print("running", wanted, times[0]);
        print("blocked", times[0], times[1]);
        print("waiting", times[1], times[2]);
        print("asleep", times[2], times[3]);
        print("running", times[3], acquired);
        System.out.println("used " + used);
    }

    private static void print(String activity, long fromNanos, long toNanos) {
        System.out.println("did " + activity + " " + (toNanos - fromNanos));
    }

    private void own() {
        synchronized (lock) {
            waiter.start();
            await(waiter, Thread.State.BLOCKED);
            long start = System.nanoTime();
            while (System.nanoTime() - start < MILLIS * 1_000_000) {
                used++;
            }
            times[0] = System.nanoTime();
            synchronized (other) {
                used++;
            }
            times[1] = System.nanoTime();
            try {
                done.await();
                times[2] = System.nanoTime();
                LockSupport.parkNanos(MILLIS * 1_000_000);
                times[3] = System.nanoTime();
                Thread.sleep(MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void hold() {
        synchronized (other) {
            otherOwned.countDown();
            await(owner, Thread.State.BLOCKED);
            try {
                Thread.sleep(MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void use() {
        wanted = System.nanoTime();
        synchronized (lock) {
            acquired = System.nanoTime();
            used++;
        }
    }

    private static void await(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
