package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A crowd of threads is blocked by the thread "main" until the program has got a line.
 *
 * <p>Arguments: how many threads, and how many frames deeper than otherwise they are blocked. The line {@code
 * waiting} says that all are.
 *
 * <p>A trace that begins then must show one wait of each thread, "crowd-0" to "crowd-N".
 */
public final class WaitingCrowd {
    private static final long STACK_BYTES = 128 << 10;

    private int passed;

    private WaitingCrowd() {}

    public static void main(String[] args) throws Exception {
        WaitingCrowd crowd = new WaitingCrowd();
        List<Thread> threads = new ArrayList<>();
        int depth = Integer.parseInt(args[1]);
        for (int number = 0; number < Integer.parseInt(args[0]); number++) {
            threads.add(new Thread(null, () -> crowd.pass(depth), "crowd-" + number, STACK_BYTES));
        }
        crowd.block(threads);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private synchronized void block(List<Thread> threads) throws Exception {
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.BLOCKED) {
                LockSupport.parkNanos(100_000);
            }
        }
        System.out.println("waiting");
        System.in.read();
    }

    private void pass(int depth) {
        if (depth > 0) {
            pass(depth - 1);
        } else {
            synchronized (this) {
                passed++;
            }
        }
    }
}
