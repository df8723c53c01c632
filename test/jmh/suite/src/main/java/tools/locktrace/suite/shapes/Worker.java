package tools.locktrace.suite.shapes;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;
import tools.locktrace.suite.truth.Recorder;
import tools.locktrace.suite.truth.TurnLog;

/** A thread of a benchmark. */
@State(Scope.Thread)
public class Worker {
    /** Its number, from 0. */
    int number;
    /** The number of threads. */
    int threads;
    /** The log of its turns. */
    TurnLog log;
    private int operations;

    @Setup(Level.Trial)
    public void setUp(ThreadParams params, Recorder recorder) {
        number = params.getThreadIndex();
        threads = params.getThreadCount();
        log = recorder.log();
    }

    /**
     * One of some choices, the next one in each operation. The threads begin at
     * different ones.
     */
    int next(int choices) {
        return (operations + number * choices / threads) % choices;
    }

    /** Returns whether the operation is the first of {@code row} successive ones. */
    boolean isFirstOf(int row) {
        return (operations - 1) % row == 0;
    }

    void operationBegins() {
        operations++;
    }
}
