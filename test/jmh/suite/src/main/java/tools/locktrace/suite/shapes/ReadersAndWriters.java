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
 * the last reader; a reader waits for a writer, be it one that writes, or one that
 * waits for readers and lets nobody pass.
 */
@State(Scope.Benchmark)
public class ReadersAndWriters {
    /** A thread that came back at once could keep the lock for itself. */
    private static final int THINK_NAPS = 2;

    @Param("REENTRANT")
    ReadWriteKind kind;

    private ReadWriteGuards guards;
    private String readerPath;
    private String writerPath;

    @Setup(Level.Trial)
    public void setUp() {
        guards = kind.create();
        readerPath = guards.reader.path().calledBy(ReadersAndWriters.class, "reader").toString();
        writerPath = guards.writer.path().calledBy(ReadersAndWriters.class, "writer").toString();
        WarmUp.of(i -> (i % 2 == 0 ? guards.reader : guards.writer).hold(Turn.warmUp()));
    }

    @Benchmark
    @Group("readersAndWriters")
    public void reader(Worker worker) {
        guards.reader.hold(nextTurn(worker, guards.reader, readerPath));
    }

    @Benchmark
    @Group("readersAndWriters")
    public void writer(Worker worker) {
        guards.writer.hold(nextTurn(worker, guards.writer, writerPath));
    }

    private static Turn nextTurn(Worker worker, Guard guard, String path) {
        worker.operationBegins();
        Turn.nap(THINK_NAPS);
        return worker.log.note(Turn.of(Holds.GEOMETRIC.naps(worker.next(4)), guard.key(), path));
    }
}
