package scenarios;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;

/** Waits for futures, a latch and a phaser, each for at least 100 ms in a method of its own. */
public final class Futures {
    private Futures() {
    }

    public static void main(String[] args) throws Exception {
        CompletableFuture<String> future = new CompletableFuture<>();
        later(() -> future.complete("done"));
        getFuture(future);
        CompletableFuture<String> joined = new CompletableFuture<>();
        later(() -> joined.complete("done"));
        joinFuture(joined);
        FutureTask<String> task = new FutureTask<>(() -> "done");
        later(task);
        getTask(task);
        CountDownLatch latch = new CountDownLatch(1);
        later(latch::countDown);
        awaitLatch(latch);
        Phaser phaser = new Phaser(2);
        later(phaser::arrive);
        awaitPhaser(phaser);
    }

    /** Acts when the thread that calls this has waited for a while. */
    private static void later(Runnable action) {
        Thread client = Thread.currentThread();
        new Thread(() -> {
            try {
                while (client.getState() != Thread.State.WAITING) {
                    Thread.sleep(1);
                }
                Thread.sleep(150);
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
            action.run();
        }, "server").start();
    }

    private static void getFuture(CompletableFuture<String> future) throws Exception {
        future.get();
    }

    private static void joinFuture(CompletableFuture<String> future) {
        future.join();
    }

    private static void getTask(FutureTask<String> task) throws Exception {
        task.get();
    }

    private static void awaitLatch(CountDownLatch latch) throws InterruptedException {
        latch.await();
    }

    private static void awaitPhaser(Phaser phaser) {
        phaser.arriveAndAwaitAdvance();
    }
}
