package scenarios;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * One thread after the other waits in a way of its own and is named after it, until
 * the main thread makes an end of that. The trace must show of what kind each wait
 * is, and name the method {@code wakeUp} of the main thread.
 */
public final class WaitKinds {
    /** Long enough for a thread that is seen parked to be so, on a busy machine, too. */
    private static final long BLOCKED_MILLIS = 20;
    private static final long NAP_NANOS = 20_000_000;

    private WaitKinds() {}

    public static void main(String[] args) throws Exception {
        locks();
        signals();
        ownSynchronizers();
        conditions();
        exchanges();
        futures();
        run("bare-park", LockSupport::park, LockSupport::unpark);
        time();
        pools();
    }

    /** Locks that the main thread has until it wakes the other one. */
    private static void locks() throws Exception {
        lock("reentrant-lock", new ReentrantLock());
        lock("fair-lock", new ReentrantLock(true));
        lock("stamped-lock", new StampedLock().asWriteLock());
        lock("write-lock", new ReentrantReadWriteLock().writeLock());
        ReentrantReadWriteLock readWriteLock = new ReentrantReadWriteLock();
        readWriteLock.writeLock().lock();
        run("reader", readWriteLock.readLock()::lock, thread -> readWriteLock.writeLock().unlock());
        Semaphore semaphore = new Semaphore(1);
        semaphore.acquire();
        run("semaphore", semaphore::acquire, thread -> semaphore.release());
        Semaphore drained = new Semaphore(1);
        drained.drainPermits();
        run("drained-semaphore", drained::acquire, thread -> drained.release());
    }

    /** The main thread never acquires these semaphores, and releases them all the same. */
    private static void signals() throws Exception {
        Semaphore signal = new Semaphore(0);
        run("signal", signal::acquire, thread -> signal.release());
        run("missed-signal", () -> signal.tryAcquire(NAP_NANOS, TimeUnit.NANOSECONDS), null);
        Semaphore fair = new Semaphore(0, true);
        run("fair-signal", fair::acquire, thread -> fair.release());
    }

    private static void lock(String name, Lock lock) throws Exception {
        lock.lock();
        run(name, lock::lock, thread -> lock.unlock());
    }

    private static void ownSynchronizers() throws Exception {
        for (boolean namesOwner : new boolean[] {true, false}) {
            Mutex mutex = new Mutex(namesOwner);
            mutex.acquire(1);
            run(namesOwner ? "mutex-with-owner" : "mutex", () -> mutex.acquire(1), thread -> mutex.release(1));
        }
        Gate gate = new Gate();
        run("gate", () -> gate.acquireShared(1), thread -> gate.releaseShared(1));
    }

    private static void conditions() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        run("latch", latch::await, thread -> latch.countDown());
        CyclicBarrier barrier = new CyclicBarrier(2);
        run("barrier", barrier::await, thread -> barrier.await());
        Phaser phaser = new Phaser(2);
        run("phaser", phaser::arriveAndAwaitAdvance, thread -> phaser.arrive());

        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        run("condition", () -> {
            lock.lock();
            condition.await();
            lock.unlock();
        }, thread -> {
            lock.lock();
            condition.signal();
            lock.unlock();
        });
    }

    private static void exchanges() throws Exception {
        take("array-queue", new ArrayBlockingQueue<>(1));
        take("synchronous-queue", new SynchronousQueue<>());
        take("fair-synchronous-queue", new SynchronousQueue<>(true));
        take("transfer-queue", new LinkedTransferQueue<>());
        Exchanger<String> exchanger = new Exchanger<>();
        run("exchanger", () -> exchanger.exchange("one"), thread -> exchanger.exchange("other"));
    }

    private static void take(String name, BlockingQueue<String> queue) throws Exception {
        run(name, queue::take, thread -> queue.put("element"));
    }

    private static void futures() throws Exception {
        FutureTask<String> task = new FutureTask<>(() -> "result");
        run("future-task", task::get, thread -> task.run());
        CompletableFuture<String> future = new CompletableFuture<>();
        run("completable-future", future::get, thread -> future.complete("result"));
    }

    /** Nobody wakes these. */
    private static void time() throws Exception {
        run("nap", () -> LockSupport.parkNanos(NAP_NANOS), null);
        run("nap-on-object", () -> LockSupport.parkNanos(WaitKinds.class, NAP_NANOS), null);
        run("nap-until", () -> LockSupport.parkUntil(System.currentTimeMillis() + NAP_NANOS / 1_000_000), null);
        run("poll", () -> new ArrayBlockingQueue<String>(1).poll(NAP_NANOS, TimeUnit.NANOSECONDS), null);
    }

    /** Workers wait for the next task in vain, and one of them in a task for a latch. */
    private static void pools() throws Exception {
        idle(Executors.newFixedThreadPool(1, work -> new Thread(work, "pool-worker")));
        idle(Executors.newScheduledThreadPool(1, work -> new Thread(work, "scheduled-worker")));
        idle(new ForkJoinPool(1, pool -> {
            ForkJoinWorkerThread worker =
                    ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
            worker.setName("fork-join-worker");
            return worker;
        }, null, true));

        AtomicReference<Thread> worker = new AtomicReference<>();
        ExecutorService pool = Executors.newFixedThreadPool(1, work -> {
            worker.set(new Thread(work, "busy-worker"));
            return worker.get();
        });
        CountDownLatch latch = new CountDownLatch(1);
        pool.submit(() -> {
            await(latch::await);
            return null;
        });
        awaitParked(worker.get());
        wakeUp(thread -> latch.countDown(), worker.get());
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
    }

    private static void idle(ExecutorService pool) throws Exception {
        for (int i = 0; i < 3; i++) {
            pool.submit(() -> {}).get();
            TimeUnit.MILLISECONDS.sleep(4 * BLOCKED_MILLIS);
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
    }

    /** Lets a thread wait, and wakes it up if it needs that. */
    private static void run(String name, Waiting waiting, WakeUp wakeUp) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                await(waiting);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }, name);
        thread.start();
        if (wakeUp != null) {
            awaitParked(thread);
            wakeUp(wakeUp, thread);
        }
        thread.join();
    }

    private static void await(Waiting waiting) throws Exception {
        waiting.await();
    }

    private static void wakeUp(WakeUp wakeUp, Thread thread) throws Exception {
        wakeUp.wakeUp(thread);
    }

    /** Waits until the thread has been parked for a while. */
    private static void awaitParked(Thread thread) throws InterruptedException {
        while (!isParked(thread)) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        TimeUnit.MILLISECONDS.sleep(BLOCKED_MILLIS);
    }

    /** Returns whether the thread is parked. It can also wait for a class to be initialized, or
     * in vain. */
    private static boolean isParked(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].getMethodName().equals("park")
                && thread.getState() == Thread.State.WAITING;
    }

    private interface Waiting {
        void await() throws Exception;
    }

    private interface WakeUp {
        void wakeUp(Thread thread) throws Exception;
    }

    private static final class Mutex extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        private final boolean namesOwner;

        Mutex(boolean namesOwner) {
            this.namesOwner = namesOwner;
        }

        @Override
        protected boolean tryAcquire(int ignored) {
            boolean acquired = compareAndSetState(0, 1);
            if (acquired && namesOwner) {
                setExclusiveOwnerThread(Thread.currentThread());
            }
            return acquired;
        }

        @Override
        protected boolean tryRelease(int ignored) {
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }
    }

    /** A latch: once it is open, all can pass. */
    private static final class Gate extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected int tryAcquireShared(int ignored) {
            return getState() == 1 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(int ignored) {
            setState(1);
            return true;
        }
    }
}
