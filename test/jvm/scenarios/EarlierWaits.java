package scenarios;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One thread waits for a monitor and one for a {@code ReentrantLock}, and two for no lock: for a latch and for work. The
 * line {@code waiting} says that they do. They go on when the program's input has a line.
 */
public final class EarlierWaits {
    private final ReentrantLock lock = new ReentrantLock();
    private final CountDownLatch latch = new CountDownLatch(1);
    private final LinkedBlockingQueue<String> work = new LinkedBlockingQueue<>();

    private EarlierWaits() {
    }

    public static void main(String[] args) throws Exception {
        new EarlierWaits().run();
    }

    private interface Wait {
        void run() throws InterruptedException;
    }

    private void run() throws Exception {
        lock.lock();
        synchronized (this) {
            start(this::enter);
            start(lock::lockInterruptibly);
            start(latch::await);
            start(work::take);
            System.out.println("waiting");
            System.in.read();
        }
        lock.unlock();
        latch.countDown();
        work.add("done");
    }

    private synchronized void enter() {
    }

    private static void start(Wait wait) throws InterruptedException {
        Thread thread = new Thread(() -> {
            try {
                wait.run();
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
        });
        thread.start();
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
    }
}
