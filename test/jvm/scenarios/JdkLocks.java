package scenarios;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Four threads wait for monitors that code of the JDK holds: in blocks, and in a synchronized method. With {@code
 * outside} they wait in the program's own code: one of them holds the lock in code of the JDK, and hardly ever waits.
 */
public final class JdkLocks {
    private static final int THREADS = 4;
    private static final long HOLD_MS = 3;
    private static final long FREE_MS = 1;
    private static final int ROUNDS = 100;
    /** Owners are known later there: the code in which the lock is held has to be found. */
    private static final int ROUNDS_OUTSIDE = 600;

    private JdkLocks() {
    }

    public static void main(String[] args) throws InterruptedException {
        Vector<String> vector = new Vector<>();
        vector.add("element");
        Thread[] threads = new Thread[THREADS];
        boolean isOutside = args[0].equals("outside");
        int rounds = isOutside ? ROUNDS_OUTSIDE : ROUNDS;
        Runnable shared = round(args[0], vector);
        for (int thread = 0; thread < THREADS; thread++) {
            Runnable round = isOutside && thread > 0 ? () -> enter(vector) : shared;
            threads[thread] = new Thread(() -> {
                for (int i = 0; i < rounds; i++) {
                    round.run();
                }
            }, "worker-" + thread);
            threads[thread].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Runnable round(String lock, Vector<String> vector) {
        switch (lock) {
            case "map":
                ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
                // What is not found is computed again.
                return () -> map.computeIfAbsent("key", key -> {
                    pause(HOLD_MS);
                    return null;
                });
            case "stream":
                PrintStream stream = new PrintStream(new SlowStream(), true);
                return () -> stream.println("a line");
            case "outside":
                return () -> {
                    vector.forEach(element -> pause(HOLD_MS));
                    // The others have it meanwhile.
                    pause(FREE_MS);
                };
            default:
                return () -> vector.forEach(element -> pause(HOLD_MS));
        }
    }

    private static void enter(Vector<String> vector) {
        synchronized (vector) {
            vector.isEmpty();
        }
        pause(FREE_MS);
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class SlowStream extends OutputStream {
        @Override
        public void write(int b) {
            pause(HOLD_MS);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            pause(HOLD_MS);
        }
    }
}
