package scenarios;

import java.util.concurrent.CountDownLatch;

/**
 * A class loader of the old kind lets go of its own lock while it loads a class
 * for the thread "first": it waits. The thread "second" wants the same class.
 * The JVM takes the loader's lock for it, sees that the class is being loaded,
 * and lets go of the lock at once, however often it was entered. The thread
 * "bystander" has queued for the lock meanwhile.
 *
 * <p>The trace must show one wait of "bystander" a round, blocked by "main" in
 * {@link #gather} and then, for an instant, by "second" in
 * {@code Class.forName}. That "second" gets the lock before "bystander" is how
 * HotSpot's queue works if nobody comes in between.
 */
public final class CompleteExit {
    private static final int ROUNDS = 10;

    private CompleteExit() {}

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            WaitingLoader loader = new WaitingLoader();
            Thread first = new Requester("first", loader);
            Thread second = new Requester("second", loader);
            Thread bystander = new Thread(loader::pass, "bystander");

            first.start();
            loader.asked.await();
            gather(loader, bystander, second); // @gather
            bystander.join();

            loader.letGoOn();
            first.join();
            second.join();
        }
    }

    private static void gather(WaitingLoader loader, Thread bystander, Thread second) {
        synchronized (loader) {
            bystander.start();
            new Held(bystander).run();
            second.start();
            new Held(second).run();
        } // @leave
    }

    private static final class Requester extends Thread {
        private final ClassLoader loader;

        Requester(String name, ClassLoader loader) {
            super(name);
            this.loader = loader;
        }

        @Override
        public void run() {
            try {
                Class.forName("scenarios.Linked", false, loader); // @request
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final class WaitingLoader extends ClassLoader {
        private final CountDownLatch asked = new CountDownLatch(1);
        private boolean mayGoOn;
        private int passed;

        @Override
        public synchronized Class<?> loadClass(String name) throws ClassNotFoundException {
            asked.countDown();
            while (!mayGoOn) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            return super.loadClass(name);
        }

        synchronized void letGoOn() {
            mayGoOn = true;
            notifyAll();
        }

        synchronized void pass() {
            passed++;
        }
    }
}
