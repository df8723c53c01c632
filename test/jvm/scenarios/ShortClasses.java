package scenarios;

import java.io.IOException;
import java.lang.instrument.ClassDefinition;
import java.util.concurrent.CyclicBarrier;

/**
 * Class loaders come and go, each with a class of its own, and two threads contend for instances of
 * that class, in a synchronized method and in a block. It needs nothing of the JVM but the class
 * library, so that any version will do.
 *
 * <p>Argument: the number of loaders. With {@link Redefinition} as Java agent each class is redefined
 * while both threads are in its methods.
 *
 * <p>Prints {@code sum N of N}: how often the methods were run, by what they have counted.
 */
public final class ShortClasses {
    private static final int ROUNDS_PER_COLLECTION = 50;
    private static final int CALLS = 200;

    private ShortClasses() {}

    /** The class that loaders define: its methods lock, and count. */
    public static class Counter implements Runnable {
        private int count;

        @Override
        public void run() {
            inMethod();
            synchronized (this) {
                count++;
                Thread.yield();
            }
        }

        private synchronized void inMethod() {
            count++;
            Thread.yield();
        }

        @Override
        public synchronized int hashCode() {
            return count;
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] bytes;

        Loader(byte[] bytes) {
            super(ShortClasses.class.getClassLoader());
            this.bytes = bytes;
        }

        Runnable create() throws ReflectiveOperationException {
            Class<?> type = defineClass(Counter.class.getName(), bytes, 0, bytes.length);
            return (Runnable) type.getDeclaredConstructor().newInstance();
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes = bytesOfCounter();
        int rounds = Integer.parseInt(args[0]);
        long sum = 0;
        for (int round = 1; round <= rounds; round++) {
            sum += contend(new Loader(bytes).create(), bytes);
            if (round % ROUNDS_PER_COLLECTION == 0) {
                System.gc();
            }
        }
        System.out.println("sum " + sum + " of " + (4L * CALLS * rounds));
    }

    private static byte[] bytesOfCounter() throws IOException {
        return MemoryPressure.read("scenarios/ShortClasses$Counter.class");
    }

    private static int contend(Runnable counter, byte[] bytes) throws Exception {
        CyclicBarrier start = new CyclicBarrier(2);
        Thread other = new Thread(() -> callRepeatedly(start, counter), "other");
        other.start();
        start.await();
        for (int call = 0; call < CALLS; call++) {
            counter.run();
            if (call == CALLS / 2 && Redefinition.instrumentation != null) {
                ClassDefinition same = new ClassDefinition(counter.getClass(), bytes);
                Redefinition.instrumentation.redefineClasses(same);
            }
        }
        other.join();
        return counter.hashCode();
    }

    private static void callRepeatedly(CyclicBarrier start, Runnable counter) {
        try {
            start.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        for (int call = 0; call < CALLS; call++) {
            counter.run();
        }
    }
}
