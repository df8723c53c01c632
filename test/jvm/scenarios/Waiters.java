package scenarios;

import java.util.ArrayList;
import java.util.List;

/**
 * Threads that are blocked on locks which the current thread holds, until it
 * leaves: by a return or by an exception, whatever frame that is.
 *
 * <p>The trace must show, for each line {@code left THREAD FRAME ...} that
 * {@link #print} prints, one wait of that thread, and if it has an owner, the
 * owner's call chain from the second frame on, innermost first, written
 * {@code CLASS.METHOD:LINE}.
 */
final class Waiters {
    private static final int CALLER_OF_RELEASING = 3;

    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> blocked = new ArrayList<>();

    /** Has a new thread blocked on {@code lock}; called by {@link CallPlan#block}, and that by the method that will release the lock. */
    void block(Object lock) {
        blocked.add(new Throwable());
        Waiter waiter = new Waiter("waiter-" + threads.size(), lock);
        threads.add(waiter);
        waiter.start();
        Contender.awaitBlocked(waiter);
    }

    /** Waits until all have had their lock. */
    void join() {
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    void print() {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < threads.size(); i++) {
            lines.append("left ").append(threads.get(i).getName());
            Contender.appendFrames(blocked.get(i), CALLER_OF_RELEASING, lines);
        }
        System.out.print(lines);
    }

    private static final class Waiter extends Thread {
        private final Object lock;
        private boolean accepted;

        Waiter(String name, Object lock) {
            super(name);
            this.lock = lock;
        }

        @Override
        public void run() {
            synchronized (lock) {
                accepted = true;
            }
        }
    }
}
