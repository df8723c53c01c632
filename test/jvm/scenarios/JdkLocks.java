package scenarios;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;

/** Four threads wait for monitors that code of the JDK holds: in blocks, and in a synchronized method. */
public final class JdkLocks {
    private static final int THREADS = 4;
    private static final int ROUNDS = 30;

    private JdkLocks() {
    }

    public static void main(String[] args) throws InterruptedException {
        Runnable round = round(args[0]);
        Thread[] threads = new Thread[THREADS];
        for (int thread = 0; thread < THREADS; thread++) {
            threads[thread] = new Thread(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    round.run();
                }
            }, "worker-" + thread);
            threads[thread].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Runnable round(String lock) {
        switch (lock) {
            case "map":
                ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
                // What is not found is computed again.
                return () -> map.computeIfAbsent("key", key -> {
                    pause();
                    return null;
                });
            case "stream":
                PrintStream stream = new PrintStream(new SlowStream(), true);
                return () -> stream.println("a line");
            default:
                Vector<String> vector = new Vector<>();
                vector.add("element");
                return () -> vector.forEach(element -> pause());
        }
    }

    private static void pause() {
        try {
            Thread.sleep(3);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class SlowStream extends OutputStream {
        @Override
        public void write(int b) {
            pause();
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            pause();
        }
    }
}
