package scenarios;

/**
 * Two producers and two consumers pass items through a small buffer. All that
 * are notified are in the lock's queue at once, asleep until it is their turn:
 * nobody blocks them, while the lock is released again and again.
 *
 * <p>Before, the main thread blocks "early", which puts an item more into the
 * buffer: the trace knows the lock.
 */
public final class BoundedBuffer {
    private static final int PAIRS = 2;
    private static final int ITEMS_EACH = 5_000;
    private static final int CAPACITY = 4;

    private int size;

    private BoundedBuffer() {}

    public static void main(String[] args) throws InterruptedException {
        BoundedBuffer buffer = new BoundedBuffer();
        buffer.block(new Thread(buffer::put, "early"));
        for (int i = 0; i < PAIRS; i++) {
            start(buffer::put, "producer-" + i);
            start(buffer::take, "consumer-" + i);
        }
    }

    private synchronized void block(Thread early) {
        early.start();
        NotifyStorm.await(Thread.State.BLOCKED, early);
    }

    private static void start(Runnable pass, String name) {
        Runnable passAll = () -> {
            for (int i = 0; i < ITEMS_EACH; i++) {
                pass.run();
            }
        };
        new Thread(passAll, name).start();
    }

    private synchronized void put() {
        while (size == CAPACITY) {
            await();
        }
        size++;
        notifyAll();
    }

    private synchronized void take() {
        while (size == 0) {
            await();
        }
        size--;
        notifyAll();
    }

    private void await() {
        try {
            wait();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
