package pairs.real;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import org.apache.log4j.Hierarchy;
import org.apache.log4j.Level;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.WriterAppender;
import org.apache.log4j.spi.RootLogger;
import pairs.Program;
import pairs.Work;

/**
 * Threads log by Log4j 1.2 to a device that takes its time: under the lock of the root logger each line is
 * flushed to it. Or lines are buffered, by {@code immediateFlush=false}.
 */
public final class Log4j extends Program {
    private static final int THREADS = 8;
    private static final int TURNS = 1_500;
    private static final int WRITE_MICROS = 300;

    private final Hierarchy loggers = new Hierarchy(new RootLogger(Level.INFO));
    private final Device device = new Device();

    public Log4j(boolean isAfter) {
        super(THREADS, TURNS);
        WriterAppender appender = new WriterAppender(new PatternLayout("%d{ISO8601} %-5p [%t] %c - %m%n"), device);
        appender.setImmediateFlush(!isAfter);
        loggers.getRootLogger().addAppender(appender);
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 1_000);
        loggers.getLogger("shop.orders").info("order " + turn + " of customer " + thread);
    }

    @Override
    protected void end() {
        loggers.shutdown();
        if (device.lines != THREADS * TURNS) {
            throw new AssertionError(device.lines + " lines");
        }
    }

    /** Counts lines. Each write takes a time. */
    private static final class Device extends FilterOutputStream {
        private final Random random = new Random(0);
        private int lines;

        Device() {
            super(new OutputStream() {
                @Override
                public void write(int unused) {}
            });
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            Work.pause(random, WRITE_MICROS);
            for (int at = offset; at < offset + length; at++) {
                if (bytes[at] == '\n') {
                    lines++;
                }
            }
        }
    }
}
