package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.TemporaryFolder;
import bench.WrongResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.log4j.FileAppender;
import org.apache.log4j.Hierarchy;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.spi.RootLogger;

/**
 * Threads compute a little and log what came out, all to one file. Log4j 1.2
 * formats and writes under the locks of the logger and of its appender.
 */
public final class Log4j implements Application {
    private static final int MESSAGES = 480_000;
    private static final String PATTERN = "%d{ISO8601} %-5p [%t] %c - %m%n";

    private final int threads;
    private final int messagesEach;
    private final TemporaryFolder folder = new TemporaryFolder();
    private final Path file = folder.path().resolve("log");

    public Log4j(Settings settings) throws IOException {
        threads = settings.threads();
        messagesEach = Math.max(1, settings.work(MESSAGES) / threads);
    }

    @Override
    public void iterate() throws Exception {
        // Not the one that other libraries log to.
        Hierarchy loggers = new Hierarchy(new RootLogger(Level.INFO));
        loggers.getRootLogger().addAppender(new FileAppender(new PatternLayout(PATTERN), file.toString(), false));
        Team.run("worker", threads, member -> {
            Logger logger = loggers.getLogger("bench.worker" + member);
            for (int i = 0; i < messagesEach; i++) {
                logger.debug("nobody reads this");
                logger.info(member * messagesEach + i);
            }
        });
        loggers.shutdown();
    }

    @Override
    public void check() throws IOException, WrongResult {
        long lines = 0;
        long sum = 0;
        try (BufferedReader log = Files.newBufferedReader(file, StandardCharsets.US_ASCII)) {
            for (String line = log.readLine(); line != null; line = log.readLine()) {
                lines++;
                sum += Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
            }
        }
        long messages = (long) threads * messagesEach;
        WrongResult.unlessEqual("lines", messages, lines);
        WrongResult.unlessEqual("sum of all numbers", messages * (messages - 1) / 2, sum);
    }

    @Override
    public void close() throws IOException {
        folder.close();
    }
}
