package pairs;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** What threads do: it takes time, like input and output, or it takes a processor. */
public final class Work {
    /** The steps of a computation that take about a microsecond. */
    private static final int STEPS_PER_MICRO = 300;

    private static volatile long sink;

    private Work() {}

    /** Takes this number of microseconds, a fifth more or less, without a processor. */
    public static void pause(Random random, int micros) {
        long nanos = nearly(random, micros);
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Takes about this number of microseconds of a processor. */
    public static void compute(Random random, int micros) {
        long value = micros;
        for (long step = nearly(random, micros) * STEPS_PER_MICRO / 1_000; step > 0; step--) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }

    private static long nearly(Random random, int micros) {
        return micros * (800L + random.nextInt(400));
    }
}
