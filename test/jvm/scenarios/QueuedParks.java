package scenarios;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A thread "waiter" wants locks that the main thread has. In each call it parks
 * once, or several times: the main thread wakes it, but has taken the lock back
 * before.
 *
 * <p>Prints {@code main ID} and, for each call, {@code call CLASS PARKS}: the class
 * that the waiter parked on, and how often. The trace must say of all parks of a
 * call but the first that they are continued, and who owned the lock.
 */
public final class QueuedParks {
    private static final int ROUNDS = 8;
    /** The JVM calls a thread waiting a moment before it looks for the owner of the lock. */
    private static final long BLOCKING_MILLIS = 20;
    /** On a busy machine, too, it is not over before the thread parks. */
    private static final long BRIEF_NANOS = 1_000_000_000;

    private final Mutex mutex = new Mutex();
    private final Condition condition = mutex.newCondition();
    private final ReentrantLock lock = new ReentrantLock();
    private volatile Call call;
    private volatile int attempts;  // of the waiter to acquire the mutex
    private volatile int successes;

    private QueuedParks() {}

    public static void main(String[] args) throws InterruptedException {
        System.out.println("main " + Thread.currentThread().getId());
        new QueuedParks().run();
    }

    private void run() throws InterruptedException {
        Waiter waiter = new Waiter();
        waiter.start();
        for (int round = 0; round < ROUNDS; round++) {
            bargeIn(waiter, round % 4);
        }
        interruptInQueue(waiter);
        leaveQueue(waiter);
        signal(waiter);
        useReentrantLock(waiter);
        begin(() -> waiter.ends = true);
        waiter.join();
    }

    /** The main thread takes the mutex back this many times, if it can. */
    private void bargeIn(Waiter waiter, int times) throws InterruptedException {
        mutex.acquire(1);
        begin(mutex::acquireAndRelease);
        awaitParked(waiter, mutex);
        int barged = 0;
        while (barged < times && bargesIn(waiter)) {
            barged++;
        }
        if (mutex.isMine()) {
            mutex.release(1);
        }
        end(mutex, 1 + barged);
    }

    /** Wakes the waiter, which must park again; returns false if it was faster. */
    private boolean bargesIn(Waiter waiter) throws InterruptedException {
        int attemptsBefore = attempts;
        int successesBefore = successes;
        mutex.release(1);
        if (!mutex.tryAcquire(1) || successes > successesBefore) {
            return false; // the waiter has the mutex, or had it already
        }
        awaitAttempt(attemptsBefore);
        awaitParked(waiter, mutex);
        return true;
    }

    /** The interrupt wakes the waiter, but it does not give up. */
    private void interruptInQueue(Waiter waiter) throws InterruptedException {
        mutex.acquire(1);
        begin(() -> {
            mutex.acquireAndRelease(); // which interrupts the thread again: that leaves a permit
            Thread.interrupted();
            LockSupport.parkNanos(1);
        });
        awaitParked(waiter, mutex);
        int before = attempts;
        waiter.interrupt();
        awaitAttempt(before);
        awaitParked(waiter, mutex);
        mutex.release(1);
        end(mutex, 2);
    }

    /** The waiter gives up, twice for each reason: a new call is nothing continued. */
    private void leaveQueue(Waiter waiter) throws InterruptedException {
        mutex.acquire(1);
        for (int i = 0; i < 2; i++) {
            begin(() -> mutex.tryAcquireNanos(1, BRIEF_NANOS));
            end(mutex, 1);
        }
        for (int i = 0; i < 2; i++) {
            begin(mutex::acquireUntilInterrupted);
            awaitParked(waiter, mutex);
            waiter.interrupt();
            end(mutex, 1);
        }
        mutex.release(1);
    }

    /** After {@code await} the waiter has to get the mutex back. */
    private void signal(Waiter waiter) throws InterruptedException {
        mutex.acquire(1);
        begin(() -> {
            mutex.acquire(1);
            condition.await();
            mutex.release(1);
        });
        awaitParked(waiter, mutex);
        mutex.release(1);
        awaitParked(waiter, condition);
        mutex.acquire(1);
        condition.signal();
        boolean barged = bargesIn(waiter);
        if (mutex.isMine()) {
            mutex.release(1);
        }
        end(mutex, 1);
        print(condition, 1);
        print(mutex, barged ? 1 : 0);
    }

    private void useReentrantLock(Waiter waiter) throws InterruptedException {
        lock.lock();
        begin(() -> {
            lock.lock();
            lock.unlock();
        });
        while (!lock.hasQueuedThread(waiter) || waiter.getState() != Thread.State.WAITING) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        TimeUnit.MILLISECONDS.sleep(BLOCKING_MILLIS);
        lock.unlock();
        awaitEnd();
        System.out.println("call java.util.concurrent.locks.ReentrantLock$NonfairSync 1");
    }

    private void begin(Call next) {
        call = next;
    }

    /** Waits until the waiter is done with a call. */
    private void end(Object blocker, int parks) throws InterruptedException {
        awaitEnd();
        print(blocker, parks);
    }

    private void awaitEnd() throws InterruptedException {
        while (call != null) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static void print(Object blocker, int parks) {
        System.out.println("call " + blocker.getClass().getName() + " " + parks);
    }

    private static void awaitParked(Thread thread, Object blocker) throws InterruptedException {
        while (thread.getState() != Thread.State.WAITING || LockSupport.getBlocker(thread) != blocker) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        TimeUnit.MILLISECONDS.sleep(BLOCKING_MILLIS);
    }

    private void awaitAttempt(int before) throws InterruptedException {
        while (attempts == before) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private interface Call {
        void run() throws InterruptedException;
    }

    /** Makes the calls that it is given. */
    private final class Waiter extends Thread {
        private boolean ends;

        Waiter() {
            super("waiter");
        }

        @Override
        public void run() {
            try {
                while (!ends) {
                    if (call == null) {
                        TimeUnit.MILLISECONDS.sleep(1);
                    } else {
                        call.run();
                        call = null;
                    }
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Counts how often the waiter tried, and lets others in before. */
    private final class Mutex extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int ignored) {
            Thread thread = Thread.currentThread();
            boolean acquired;
            do {
                acquired = compareAndSetState(0, 1);
                // A thread that has acquired the mutex may lose the processor before it says that
                // it is the owner. A thread that gave up then would park without a visible owner.
            } while (!acquired && getExclusiveOwnerThread() == null);
            if (acquired) {
                setExclusiveOwnerThread(thread);
            }
            if (thread instanceof Waiter) {
                attempts++; // nobody else writes them
                successes += acquired ? 1 : 0;
            }
            return acquired;
        }

        @Override
        protected boolean tryRelease(int ignored) {
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }

        boolean isMine() {
            return getExclusiveOwnerThread() == Thread.currentThread();
        }

        Condition newCondition() {
            return new ConditionObject();
        }

        @Override
        protected boolean isHeldExclusively() {
            return isMine();
        }

        void acquireAndRelease() {
            acquire(1);
            release(1);
        }

        void acquireUntilInterrupted() {
            try {
                acquireInterruptibly(1);
                throw new AssertionError("nobody released the mutex");
            } catch (InterruptedException expected) {
                // The only way out.
            }
        }
    }
}
