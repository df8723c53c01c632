package scenarios;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads need a class whose static initializer takes long. One of them runs it; the
 * others wait for that, in whichever way they meet: all together at first, then two
 * at a time while the initializer runs. Each third initializer fails. Each round has a
 * class of its own, {@link SlowInitializer} as defined by another loader.
 *
 * <p>The trace must show for each thread that waited one wait for the initialization
 * of the class, and blame it on the thread that ran the initializer.
 *
 * <p>Prints {@code initialized ROUND THREAD BEGIN END} and {@code needed ROUND THREAD
 * BEFORE AFTER}, times of {@link System#nanoTime}, and {@code delayed ROUND THREAD DELAY}, the
 * nanoseconds in which the thread could have run meanwhile but had no processor.
 */
public final class ClassInitialization {
    private static final int ROUNDS = 15;
    private static final int THREADS = 8;
    private static final int FIRST_THREADS = 4;
    private static final long PAUSE_MILLIS = 20;

    private static final List<String> notes = new ArrayList<>();
    private static volatile Round current;

    private ClassInitialization() {}

    public static void main(String[] args) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            System.exit(1);
        });
        for (int round = 0; round < ROUNDS; round++) {
            current = new Round(round);
            current.run();
        }
        synchronized (notes) {
            notes.forEach(System.out::println);
        }
    }

    /** The static initializer of {@link SlowInitializer}, which is of another run-time package. */
    public static void initialize(Class<?> slow) {
        Round round = current;
        long begin = System.nanoTime();
        for (int pair = 0; pair < (THREADS - FIRST_THREADS) / 2; pair++) {
            pause();
            round.pairs.incrementAndGet();
            // The thread that initializes a class may use it.
            need(slow.getName(), slow.getClassLoader());
        }
        pause();
        note("initialized", round.number, begin + " " + System.nanoTime());
        if (round.number % 3 == 2) {
            throw new IllegalStateException("on purpose");
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void need(String name, ClassLoader loader) {
        try {
            Class.forName(name, true, loader); // @need
        } catch (ExceptionInInitializerError | NoClassDefFoundError e) {
            if (current.number % 3 != 2) {
                throw e;
            }
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void note(String what, int round, String times) {
        String line = what + ' ' + round + ' ' + Thread.currentThread().getName() + ' ' + times;
        synchronized (notes) {
            notes.add(line);
        }
    }

    /** Threads that need one class. */
    private static final class Round {
        final int number;
        final ClassLoader loader = new Loader();
        final CyclicBarrier start = new CyclicBarrier(THREADS);
        /** The number of pairs of threads that may come. */
        final AtomicInteger pairs = new AtomicInteger();
        final Thread[] threads = new Thread[THREADS];

        Round(int number) {
            this.number = number;
        }

        void run() throws Exception {
            for (int i = 0; i < THREADS; i++) {
                int index = i;
                threads[i] = new Thread(() -> needAtItsTime(index), "thread-" + i);
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }

        private void needAtItsTime(int index) {
            try {
                start.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            if (index >= FIRST_THREADS) {
                awaitRelease((index - FIRST_THREADS) / 2);
            }
            long delayedBefore = delayedNs();
            long before = System.nanoTime();
            need("scenarios.SlowInitializer", loader);
            long after = System.nanoTime();
            note("needed", number, before + " " + after);
            note("delayed", number, String.valueOf(delayedNs() - delayedBefore));
        }

        /** Returns for how long the thread waited for a processor, as the system has counted it. */
        private static long delayedNs() {
            try {
                byte[] bytes = Files.readAllBytes(Paths.get("/proc/thread-self/schedstat"));
                return Long.parseLong(new String(bytes, StandardCharsets.UTF_8).split(" ")[1]);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Spins, so that both of them meet. */
        private void awaitRelease(int pair) {
            while (pairs.get() <= pair) {
                Thread.yield();
            }
        }
    }

    /** Defines {@link SlowInitializer} anew. */
    private static final class Loader extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        Loader() {
            super(ClassInitialization.class.getClassLoader());
        }

        @Override
        public Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("scenarios.SlowInitializer")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? define(name) : known;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            String file = '/' + name.replace('.', '/') + ".class";
            try (InputStream in = ClassInitialization.class.getResourceAsStream(file)) {
                byte[] code = new byte[1 << 12];
                int length = 0;
                for (int read; (read = in.read(code, length, code.length - length)) > 0; ) {
                    length += read;
                }
                return defineClass(name, code, 0, length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
