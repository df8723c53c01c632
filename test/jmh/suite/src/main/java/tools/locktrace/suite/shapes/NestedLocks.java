package tools.locktrace.suite.shapes;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.locktrace.suite.truth.Turn;
import tools.locktrace.suite.truth.TurnLog;

/**
 * Threads hold locks while they wait for others, always in the same order. Each
 * thread begins at a lock of its own choice, so owners are blocked themselves.
 */
@State(Scope.Benchmark)
public class NestedLocks {
    @Param("BLOCK")
    LockKind kind;

    /** The number of locks. */
    @Param("3")
    int levels;

    private Guard[] guards;

    @Setup(Level.Trial)
    public void setUp() {
        guards = kind.create(levels);
        WarmUp.of(i -> new Descent(guards, i % levels, null, new CallPath()).run());
    }

    @Benchmark
    public void turn(Worker worker) {
        // A thread that came back at once would always find the last lock free: those
        // that wait for it, and all after them, would starve.
        Turn.nap(1);
        CallPath caller = new CallPath().calledBy(NestedLocks.class, "turn");
        new Descent(guards, worker.number % levels, worker.log, caller).run();
    }

    /** Holds the lock of a level and, meanwhile, those of the levels after it. */
    private static final class Descent implements Runnable {
        private final Guard guard;
        private final TurnLog log;
        private final Paths paths;
        private final Runnable next;

        Descent(Guard[] guards, int level, TurnLog log, CallPath caller) {
            this.guard = guards[level];
            this.log = log;
            CallPath path = new CallPath().calledBy(Descent.class, "run").calledBy(caller);
            this.paths = guard.paths(path);
            this.next = level + 1 < guards.length
                    ? new Descent(guards, level + 1, log, guard.holdingPath(path)) : Turn.NOTHING;
        }

        @Override
        public void run() {
            guard.hold(log == null ? Turn.warmUp(next) : log.note(guard.turn(1, paths, next)));
        }
    }
}
