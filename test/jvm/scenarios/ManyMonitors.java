package scenarios;

import java.util.concurrent.CountDownLatch;

/** Many monitors at once, each owned by a thread, and waited for by another. */
public final class ManyMonitors {
    private static final int STACK_BYTES = 1 << 17;

    private ManyMonitors() {
    }

    public static void main(String[] args) throws InterruptedException {
        int count = Integer.parseInt(args[0]);
        CountDownLatch owned = new CountDownLatch(count);
        CountDownLatch wanted = new CountDownLatch(1);
        Thread[] owners = new Thread[count];
        Thread[] others = new Thread[count];
        Object[] locks = new Object[count];
        for (int i = 0; i < count; i++) {
            Object lock = new Object();
            locks[i] = lock;
            owners[i] = new Thread(null, () -> own(lock, owned, wanted), "owner-" + i, STACK_BYTES);
            owners[i].start();
        }
        owned.await();
        for (int i = 0; i < count; i++) {
            Object lock = locks[i];
            others[i] = new Thread(null, () -> want(lock), "other-" + i, STACK_BYTES);
            others[i].start();
        }
        for (Thread other : others) {
            while (other.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
        }
        wanted.countDown();
        for (int i = 0; i < count; i++) {
            owners[i].join();
            others[i].join();
        }
    }

    private static void own(Object lock, CountDownLatch owned, CountDownLatch wanted) {
        synchronized (lock) {
            owned.countDown();
            try {
                wanted.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void want(Object lock) {
        synchronized (lock) {
            // The other one has released it.
            lock.hashCode();
        }
    }
}
