package tools.locktrace.suite.shapes;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.locktrace.suite.truth.Turn;

/**
 * Some threads read, others write. A writer waits for the writer before it or for
 * the last reader; a reader waits for a writer that writes, or, behind one that waits
 * and lets nobody pass, for the last reader, too.
 */
@State(Scope.Benchmark)
public class ReadersAndWriters {
    /** A thread that came back at once could keep the lock for itself. */
    private static final int THINK_NAPS = 2;

    /** For how many different times the lock is held. */
    private static final int HOLDS = 4;

    @Param("REENTRANT")
    ReadWriteKind kind;

    private ReadWriteGuards guards;
    private Paths readerPaths;
    private Paths writerPaths;

    @Setup(Level.Trial)
    public void setUp() {
        guards = kind.create();
        readerPaths = guards.reader.paths(new CallPath().calledBy(ReadersAndWriters.class, "reader"));
        writerPaths = guards.writer.paths(new CallPath().calledBy(ReadersAndWriters.class, "writer"));
        WarmUp.of(i -> (i % 2 == 0 ? guards.reader : guards.writer).hold(Turn.warmUp()));
    }

    @Benchmark
    @Group("readersAndWriters")
    public void reader(Worker worker) {
        guards.reader.hold(nextTurn(worker, guards.reader, readerPaths));
    }

    @Benchmark
    @Group("readersAndWriters")
    public void writer(Worker worker) {
        guards.writer.hold(nextTurn(worker, guards.writer, writerPaths));
    }

    private static Turn nextTurn(Worker worker, Guard guard, Paths paths) {
        worker.operationBegins();
        Turn.nap(THINK_NAPS);
        return worker.log.note(guard.turn(Holds.GEOMETRIC.naps(worker.next(HOLDS)), paths));
    }
}
