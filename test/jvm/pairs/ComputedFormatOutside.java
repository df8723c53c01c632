package pairs;

import java.util.Random;

/** Lines are formatted while the lock of the log is held; or before it is acquired. All of it computes. */
public final class ComputedFormatOutside extends Program {
    private static final int NUMBERS = 60;

    private final boolean isOutside;
    private final Log log = new Log();

    public ComputedFormatOutside(boolean isAfter) {
        super(2, 8_000);
        isOutside = isAfter;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        if (isOutside) {
            String line = format(random);
            synchronized (log) {
                log.append(line);
            }
        } else {
            synchronized (log) {
                log.append(format(random));
            }
        }
    }

    private static String format(Random random) {
        StringBuilder line = new StringBuilder();
        for (int number = 0; number < NUMBERS; number++) {
            line.append(String.format("%08.3f ", random.nextDouble()));
        }
        return line.toString();
    }

    private static final class Log {
        private long characters;

        void append(String line) {
            characters += line.length();
        }
    }
}
