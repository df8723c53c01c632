package scenarios;

/**
 * Threads {@value #DEPTH} frames deep take a contended lock again and again and compute in between,
 * without returning far: what the tracer leaves on their stacks stays there while they compute.
 *
 * <p>Argument: for how many seconds.
 *
 * <p>A profiler must see in each sample of {@link #innermost} all calls of {@link #descend}, as it does without
 * tracing.
 */
public final class ProfiledStacks {
    private static final int DEPTH = 30;
    private static final int THREADS = 4;

    private static final Object LOCK = new Object();

    private static volatile boolean enough;
    private static long shared;

    private ProfiledStacks() {}

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(ProfiledStacks::work, "worker-" + i);
            threads[i].start();
        }
        Thread.sleep(Long.parseLong(args[0]) * 1000);
        enough = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work() {
        while (!enough) {
            descend(DEPTH);
        }
    }

    private static double descend(int depth) {
        double sum = depth == 0 ? innermost() : descend(depth - 1);
        return sum + compute(depth) * 1e-9;
    }

    private static double innermost() {
        double sum = 0;
        for (int i = 0; i < 50 && !enough; i++) {
            addShared(i);
            sum += compute(i) + computeDeeper(i, 4);
        }
        return sum;
    }

    private static void addShared(int number) {
        synchronized (LOCK) {
            shared += number;
            compute(number);
        }
    }

    private static double computeDeeper(int number, int depth) {
        return depth == 0 ? compute(number) : 1 + computeDeeper(number, depth - 1);
    }

    private static double compute(int number) {
        double sum = 0;
        for (int i = 1; i < 20_000; i++) {
            sum += Math.sqrt(i + number) / i;
        }
        return sum;
    }
}
