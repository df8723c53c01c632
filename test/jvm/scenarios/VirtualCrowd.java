package scenarios;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * As many threads as the argument says wait for a latch at the same time. Once it is open each adds
 * 1 to a number, some of them under a lock and some under a monitor, and ends.
 *
 * <p>{@link WorkerThread} chooses their kind. Prints {@code sum N of N}.
 */
public final class VirtualCrowd {
    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger comers = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private int underLock;
    private int underMonitor;

    private VirtualCrowd() {}

    public static void main(String[] args) throws InterruptedException {
        new VirtualCrowd().run(Integer.parseInt(args[0]));
    }

    private void run(int size) throws InterruptedException {
        Thread[] threads = new Thread[size];
        for (int number = 0; number < size; number++) {
            boolean takesLock = number % 2 == 0;
            threads[number] = WorkerThread.start("crowd-" + number, () -> come(takesLock));
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        gate.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum " + (underLock + underMonitor) + " of " + comers);
    }

    private void come(boolean takesLock) {
        comers.incrementAndGet();
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (takesLock) {
            lock.lock();
            underLock++;
            lock.unlock();
        } else {
            synchronized (this) {
                underMonitor++;
            }
        }
    }
}
