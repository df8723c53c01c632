package scenarios;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads park on a lock, its condition, a semaphore, a queue, a pool's work and
 * futures, and on nothing; with deadlines and without; some have a permit already,
 * some are interrupted.
 *
 * <p>All of them end before the program does. The Flight Recorder of the same JVM
 * must show the same parks as the trace.
 */
public final class MixedParks {
    private static final int TURNS = 60;
    private static final long HOLD_NANOS = 200_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final ReentrantLock fairLock = new ReentrantLock(true);
    private final Condition turn = lock.newCondition();
    private final Semaphore permits = new Semaphore(2);
    private final BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
    private final CountDownLatch begin = new CountDownLatch(1);
    private int players;

    private MixedParks() {}

    public static void main(String[] args) throws Exception {
        new MixedParks().run();
    }

    private void run() throws InterruptedException, ExecutionException {
        Thread napper = new Thread(MixedParks::nap, "napper");
        Thread[] threads = {
            start("locker-0", this::lockAndUnlock), start("locker-1", this::lockAndUnlock),
            start("locker-2", this::lockAndUnlock),
            start("player-0", () -> play(0)), start("player-1", () -> play(1)),
            start("diver-0", this::useSemaphore), start("diver-1", this::useSemaphore),
            start("diver-2", this::useSemaphore),
            start("producer", this::produce), start("consumer", this::consume), napper,
        };
        napper.start();
        begin.countDown();
        usePool();
        while (napper.isAlive()) {
            napper.interrupt();
            TimeUnit.MILLISECONDS.sleep(5);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                begin.await();
                body.run();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    private void lockAndUnlock() throws InterruptedException {
        for (int i = 0; i < TURNS; i++) {
            ReentrantLock wanted = i % 2 == 0 ? lock : fairLock;
            if (i % 3 > 0) {
                wanted.lock();
            } else if (!wanted.tryLock(HOLD_NANOS / 2, TimeUnit.NANOSECONDS)) {
                continue;
            }
            try {
                Held.nanos(HOLD_NANOS);
            } finally {
                wanted.unlock();
            }
        }
    }

    private void play(int player) throws InterruptedException {
        lock.lock();
        try {
            for (int i = 0; i < TURNS; i++) {
                while (players % 2 != player) {
                    turn.await(1, TimeUnit.SECONDS);
                }
                players++;
                turn.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void useSemaphore() throws InterruptedException {
        for (int i = 0; i < TURNS; i++) {
            permits.acquire();
            Held.nanos(HOLD_NANOS);
            permits.release();
        }
    }

    private void produce() throws InterruptedException {
        for (int i = 0; i < TURNS; i++) {
            queue.put(i);
        }
    }

    private void consume() throws InterruptedException {
        for (int i = 0; i < TURNS; i++) {
            queue.take();
            if (i % 8 == 0) {
                Held.nanos(HOLD_NANOS);
            }
        }
    }

    private static void nap() {
        for (int i = 0; i < TURNS; i++) {
            LockSupport.parkNanos(HOLD_NANOS);
            LockSupport.parkUntil(System.currentTimeMillis() + 1);
            LockSupport.parkUntil(MixedParks.class, 0);
            Thread.interrupted();
            LockSupport.unpark(Thread.currentThread());
            LockSupport.park(MixedParks.class);
        }
    }

    private void usePool() throws InterruptedException, ExecutionException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < TURNS; i++) {
            Future<?> done = pool.submit(() -> Held.nanos(HOLD_NANOS));
            if (i % 2 == 0) {
                done.get();
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
    }

    private interface Body {
        void run() throws InterruptedException;
    }
}
