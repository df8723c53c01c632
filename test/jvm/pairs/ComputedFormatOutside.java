package pairs;

import java.util.Random;

/**
 * Lines are formatted while the lock of the log is held; or before it is acquired. All of it computes, but nothing
 * that would need more of a processor's memory or caches if two do it at once.
 */
public final class ComputedFormatOutside extends Program {
    private final boolean isOutside;
    private final Log log = new Log();

    public ComputedFormatOutside(boolean isAfter) {
        super(2, 4_000);
        isOutside = isAfter;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.compute(random, 200);
        if (isOutside) {
            int line = format(random);
            synchronized (log) {
                log.append(line);
            }
        } else {
            synchronized (log) {
                log.append(format(random));
            }
        }
    }

    /** Returns the length of the line. */
    private static int format(Random random) {
        Work.compute(random, 600);
        return 10 + random.nextInt(10);
    }

    private static final class Log {
        private long characters;

        void append(int line) {
            characters += line;
        }
    }
}
