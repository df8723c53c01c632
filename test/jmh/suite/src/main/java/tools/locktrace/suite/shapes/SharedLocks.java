package tools.locktrace.suite.shapes;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.locktrace.suite.truth.Turn;

/** All threads take turns with the same locks. */
@State(Scope.Benchmark)
public class SharedLocks {
    @Param("BLOCK")
    LockKind kind;

    /** The number of locks; each thread takes one after the other. */
    @Param("1")
    int locks;

    /** The number of call chains, which all threads go through. */
    @Param("1")
    int chains;

    /** The number of their frames, without those that all have. */
    @Param("2")
    int depth;

    @Param("UNIFORM")
    Holds holds;

    /** The property that the time of holding depends on. */
    @Param("THREAD")
    HeldBy heldBy;

    /** For how many naps a thread thinks before it wants a lock. */
    @Param("0")
    int think;

    /**
     * The number of turns that a thread takes before it thinks again. In between it may find the
     * lock still free that it has just released, before the one that it woke.
     */
    @Param("1")
    int burst;

    private Guard[] guards;
    private Paths[] paths;

    /** The property whose number {@link Holds} takes. */
    public enum HeldBy {
        THREAD,
        CHAIN,
        LOCK
    }

    @Setup(Level.Trial)
    public void setUp() {
        guards = kind.create(locks);
        paths = new Paths[chains];
        for (int chain = 0; chain < chains; chain++) {
            paths[chain] = guards[0].paths(Chains.path(depth, chain).calledBy(SharedLocks.class, "turn"));
        }
        WarmUp.of(i -> Chains.hold(guards[i % locks], Turn.warmUp(), depth, i % chains));
    }

    @Benchmark
    public void turn(Worker worker) {
        worker.operationBegins();
        int chain = worker.next(chains);
        int lock = worker.next(locks);
        if (worker.isFirstOf(burst)) {
            Turn.nap(think);
        }
        Turn turn = guards[lock].turn(holds.naps(number(worker, chain, lock)), paths[chain]);
        Chains.hold(guards[lock], worker.log.note(turn), depth, chain);
    }

    /** Returns the number that decides how long the lock is held. */
    private int number(Worker worker, int chain, int lock) {
        switch (heldBy) {
            case THREAD:
                return worker.number;
            case CHAIN:
                return chain;
            default:
                return lock;
        }
    }
}
