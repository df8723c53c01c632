package tools.locktrace.suite.truth;

import java.io.IOException;
import java.nio.file.Paths;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Collects the turns of all threads of a fork and writes them down at its end. */
@State(Scope.Benchmark)
public class Recorder {
    /** The system property that names the file; without it nothing is written. */
    public static final String PROPERTY = "locktrace.suite.truth";

    private final Queue<TurnLog> logs = new ConcurrentLinkedQueue<>();

    /** A log for the calling thread. */
    public TurnLog log() {
        TurnLog log = new TurnLog(Thread.currentThread().getName());
        logs.add(log);
        return log;
    }

    /** JMH calls this when no thread is in a benchmark any more. */
    @TearDown(Level.Trial)
    public void write() throws IOException {
        String path = System.getProperty(PROPERTY);
        if (path != null) {
            TruthFile.write(Paths.get(path), logs);
        }
    }
}
