package scenarios;

import java.util.ArrayList;
import java.util.List;

/**
 * Threads contend for a monitor until the program's input has a line. They release it in two ways:
 * by a block in {@code block}, and by the return from the synchronized method {@code method}.
 *
 * <p>Prints {@code running} when all threads do, and {@code done} at the end.
 */
public final class EndlessContention {
    private static final int THREADS = 3;
    private static final long HOLD_NANOS = 1_000_000;

    private volatile boolean enough;

    private EndlessContention() {}

    public static void main(String[] args) throws Exception {
        new EndlessContention().run();
    }

    private void run() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(new Thread(this::contend, "contender-" + i));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        System.out.println("running");
        System.in.read();
        enough = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }

    private void contend() {
        while (!enough) {
            block();
            method();
        }
    }

    private void block() {
        synchronized (this) {
            Held.nanos(HOLD_NANOS);
        }
    }

    private synchronized void method() {
        Held.nanos(HOLD_NANOS);
    }
}
