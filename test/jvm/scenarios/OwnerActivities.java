package scenarios;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread owns a lock that another one waits for, and meanwhile runs, waits for another lock, waits
 * for another thread, parks for some time, and sleeps.
 *
 * <p>Prints how long each took at least and at most: the two, and those who saw them wait, read the
 * clock on both sides of each beginning and end.
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
    private final ObservedThread owner = new ObservedThread(this::own, "owner");
    private final ObservedThread waiter = new ObservedThread(this::use, "waiter");
    private final ObservedThread holder = new ObservedThread(this::hold, "holder");
    private final Moment wait = new Moment();
    private final Moment acquired = new Moment();
    private final Moment blocked = new Moment();
    private final Moment unblocked = new Moment();
    private final Moment waiting = new Moment();
    private final Moment awake = new Moment();
    private long parkedNanos;
    private int used;

    /** Something that happened between two readings of the clock. */
    private static final class Moment {
        /** Set: the thread's next activity is known. */
        private volatile long before;
        private volatile long after;
    }

    private OwnerActivities() {
    }

    public static void main(String[] args) throws InterruptedException {
        new OwnerActivities().run();
    }

    private void run() throws InterruptedException {
        holder.start();
        otherOwned.await();
        owner.start();
        await(waiting, owner, Thread.State.WAITING);
        waiting.after = System.nanoTime();
        Thread.sleep(MILLIS);
        awake.before = System.nanoTime();
        done.countDown();
        owner.join();
        waiter.join();
        holder.join();
        // Nobody unparks the owner, so it parks for the whole time.
        long parkedLeast = MILLIS * 1_000_000;
        print("blocked", least(blocked, unblocked), most(blocked, unblocked));
        print("waiting", least(waiting, awake), most(waiting, awake));
        print("asleep", parkedLeast, parkedNanos);
        // In the rest of the wait the owner ran, or slept.
        long othersLeast = least(blocked, unblocked) + least(waiting, awake) + parkedLeast;
        long othersMost = most(blocked, unblocked) + most(waiting, awake) + parkedNanos;
        print("running", least(wait, acquired) - othersMost, most(wait, acquired) - othersLeast);
        print("anything", least(wait, acquired), most(wait, acquired));
        System.out.println("used " + used);
    }

    private static long least(Moment begin, Moment end) {
        return Math.max(0, end.before - begin.after);
    }

    private static long most(Moment begin, Moment end) {
        return end.after - begin.before;
    }

    private static void print(String activity, long leastNanos, long mostNanos) {
        System.out.println("did " + activity + " " + Math.max(0, leastNanos) + " " + mostNanos);
    }

    private void own() {
        synchronized (lock) {
            waiter.start();
            await(wait, waiter, Thread.State.BLOCKED);
            wait.after = System.nanoTime();
            while (System.nanoTime() - wait.after < MILLIS * 1_000_000) {
                used++;
            }
            blocked.before = System.nanoTime();
            synchronized (other) {
                used++;
            }
            unblocked.after = System.nanoTime();
            waiting.before = unblocked.after;
            try {
                done.await();
                awake.after = System.nanoTime();
                LockSupport.parkNanos(MILLIS * 1_000_000);
                parkedNanos = System.nanoTime() - awake.after;
                Thread.sleep(MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            acquired.before = System.nanoTime();
        }
    }

    private void hold() {
        synchronized (other) {
            otherOwned.countDown();
            await(blocked, owner, Thread.State.BLOCKED);
            blocked.after = System.nanoTime();
            try {
                Thread.sleep(MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            unblocked.before = System.nanoTime();
        }
    }

    private void use() {
        wait.before = System.nanoTime();
        synchronized (lock) {
            acquired.after = System.nanoTime();
            used++;
        }
    }

    /** Until it is in this state for what begins then, not for a class that it initializes. */
    private static void await(Moment begin, ObservedThread thread, Thread.State state) {
        while (begin.before == 0 || !thread.isAsleep(state)) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
