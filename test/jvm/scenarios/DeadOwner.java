package scenarios;

import java.util.concurrent.locks.ReentrantLock;

/** An owner of a lock ends without releasing it, and four threads wait for the lock for good. Prints {@code blocked}. */
public final class DeadOwner {
    private static final ReentrantLock LOCK = new ReentrantLock();

    private DeadOwner() {
    }

    public static void main(String[] args) throws InterruptedException {
        Thread owner = new Thread(LOCK::lock, "doomed");
        owner.start();
        owner.join();
        for (int client = 0; client < 4; client++) {
            new Thread(DeadOwner::request, "client-" + client).start();
        }
        while (LOCK.getQueueLength() < 4) {
            Thread.sleep(10);
        }
        // The last one may be about to park.
        Thread.sleep(100);
        System.out.println("blocked");
    }

    private static void request() {
        LOCK.lock();
    }
}
