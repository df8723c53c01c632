package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Crowds of threads come, are all blocked by the thread "main", and go.
 *
 * <p>Arguments: the number of threads, how many of them live at once, and how many
 * frames deeper than otherwise they are blocked.
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
        int depth = args.length > 2 ? Integer.parseInt(args[2]) : 0;
        ThreadCrowd crowd = new ThreadCrowd();
        for (int first = 0; first < total; first += atOnce) {
            List<Thread> threads = new ArrayList<>();
            for (int number = first; number < Math.min(first + atOnce, total); number++) {
                threads.add(new Thread(() -> crowd.pass(depth), "crowd-" + number));
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

    private void pass(int depth) {
        if (depth > 0) {
            pass(depth - 1);
        } else {
            pass();
        }
    }

    private synchronized void pass() {
        passed++;
    }
}
