package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Crowds of threads come, are all blocked by the thread "main", and go.
 *
 * <p>Arguments: the number of threads, and how many of them live at once.
 *
 * <p>The trace must show exactly one wait of each thread, "crowd-0" to
 * "crowd-N", on the lock of a {@code ThreadCrowd}.
 */
public final class ThreadCrowd {
    private int passed;

    private ThreadCrowd() {}

    public static void main(String[] args) throws InterruptedException {
        int total = Integer.parseInt(args[0]);
        int atOnce = Integer.parseInt(args[1]);
        ThreadCrowd crowd = new ThreadCrowd();
        for (int first = 0; first < total; first += atOnce) {
            List<Thread> threads = new ArrayList<>();
            for (int number = first; number < Math.min(first + atOnce, total); number++) {
                threads.add(new Thread(crowd::pass, "crowd-" + number));
            }
            crowd.block(threads);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println("passed " + crowd.passed);
    }

    private synchronized void block(List<Thread> threads) {
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.BLOCKED) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    private synchronized void pass() {
        passed++;
    }
}
