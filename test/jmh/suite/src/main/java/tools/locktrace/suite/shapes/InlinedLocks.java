package tools.locktrace.suite.shapes;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.locktrace.suite.truth.Turn;

/**
 * The code that locks is inlined into the benchmark method at four depths: below
 * 1, 2, 4 and 8 methods. The four hold the lock for 1, 2, 4 and 8 naps.
 */
@State(Scope.Benchmark)
// The compiler stops at nine methods by default.
@Fork(jvmArgsAppend = "-XX:MaxInlineLevel=20")
public class InlinedLocks {
    private static final int[] DEPTHS = {1, 2, 4, 8};

    @Param("BLOCK")
    LockKind kind;

    /** For how many naps a thread thinks before it wants a lock. */
    @Param("0")
    int think;

    private Guard guard;
    private final Paths[] paths = new Paths[DEPTHS.length];

    @Setup(Level.Trial)
    public void setUp() {
        guard = kind.create();
        for (int i = 0; i < DEPTHS.length; i++) {
            CallPath path = new CallPath();
            for (int level = 1; level <= DEPTHS[i]; level++) {
                path.calledBy(InlinedLocks.class, "level" + level);
            }
            paths[i] = guard.paths(path.calledBy(InlinedLocks.class, "hold").calledBy(InlinedLocks.class, "turn"));
        }
        WarmUp.of(i -> hold(Turn.warmUp(), DEPTHS[i % DEPTHS.length]));
    }

    @Benchmark
    public void turn(Worker worker) {
        worker.operationBegins();
        int choice = worker.next(DEPTHS.length);
        Turn.nap(think);
        int naps = Holds.GEOMETRIC.naps(choice);
        hold(worker.log.note(guard.turn(naps, paths[choice])), DEPTHS[choice]);
    }

    private void hold(Turn turn, int depth) {
        switch (depth) {
            case 1:
                level1(turn);
                break;
            case 2:
                level2(turn);
                break;
            case 4:
                level4(turn);
                break;
            default:
                level8(turn);
        }
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level8(Turn turn) {
        level7(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level7(Turn turn) {
        level6(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level6(Turn turn) {
        level5(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level5(Turn turn) {
        level4(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level4(Turn turn) {
        level3(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level3(Turn turn) {
        level2(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level2(Turn turn) {
        level1(turn);
    }

    @CompilerControl(CompilerControl.Mode.INLINE)
    private void level1(Turn turn) {
        guard.hold(turn);
    }
}
