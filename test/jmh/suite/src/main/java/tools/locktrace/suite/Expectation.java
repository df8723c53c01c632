package tools.locktrace.suite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.locktrace.suite.shapes.CallPath;
import tools.locktrace.suite.truth.Blame;
import tools.locktrace.suite.truth.Truth;

/** The expected trace of a case. */
final class Expectation {
    // In percent; README.md has the reasons and the figures.
    private static final double WAITS = 10;
    private static final double TOTAL = 3;
    private static final double BLOCKED = 2;
    private static final double OWNERS = 2;
    private static final double PARK_OWNERS = 5;
    private static final double WRONG_OWNERS = 2;
    private static final double PER_OPERATION = 10;
    private static final double SHAPE = 50;
    private static final double HAND_OVER = 25;
    private static final double UNCONTENDED = 90;

    /** An upper bound of the time to get a free lock. */
    private static final long POSSIBLE_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(10);
    /** No thread spins for so long before it blocks. */
    private static final long CERTAIN_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private Expectation() {}

    /**
     * Compares a trace with what the threads noted.
     *
     * @param oneTurnPerOperation the truth shows how many operations there were
     * @param blockedPerOperation what the profiler says, in nanoseconds
     */
    static List<Check> check(Truth truth, Traced traced, boolean oneTurnPerOperation, double blockedPerOperation)
            throws IOException {
        Blame threads = truth.blame(turn -> turn.thread);
        Blame pairs = truth.blameByPairs();
        Blame methods = truth.blame(turn -> CallPath.method(turn.ownerChain));
        Blame chains = truth.blame(turn -> turn.ownerChain);
        Map<String, Double> tracedThreads = traced.byOwnerThread();
        Map<String, Double> tracedPairs = traced.byPair();
        Map<String, Double> tracedChains = traced.byOwnerChain();
        // A trace does not show at once whether a woken thread has the lock, or another one was
        // quicker. Then nobody may be blamed, but not anybody.
        double owners = truth.isOfParks() ? PARK_OWNERS : OWNERS;

        List<Check> checks = new ArrayList<>();
        checks.add(new Check("uncontended", 100 * (1 - truth.contended()), UNCONTENDED));
        checks.add(new Check("shape", 100 * truth.deviationFromDesign(), SHAPE));
        checks.add(new Check("hand-over", 100 * threads.handOvers() / threads.total(), HAND_OVER));
        checks.add(Check.between("waits", truth.waits(CERTAIN_WAIT_NANOS), truth.waits(POSSIBLE_WAIT_NANOS),
                traced.waits(), WAITS));
        checks.add(Check.total("total", truth.waitedNanos(), Check.total(tracedThreads), TOTAL));
        checks.add(Check.shares("lock", truth.waited(turn -> turn.lock), traced.byLock(), BLOCKED));
        checks.add(Check.shares("thread", truth.waited(turn -> turn.thread), traced.byThread(), BLOCKED));
        checks.add(Check.shares("chain", truth.waited(turn -> turn.blockedChain), traced.byChain(), BLOCKED));
        checks.add(Check.shares("owner-thread", threads, tracedThreads, owners));
        checks.add(Check.shares("pair", pairs, tracedPairs, owners));
        checks.add(Check.wrong("wrong-pair", pairs, tracedPairs, WRONG_OWNERS));
        checks.add(Check.shares("owner-method", methods, traced.byOwnerMethod(), owners));
        checks.add(Check.shares("owner-chain", chains, tracedChains, owners));
        checks.add(Check.wrong("wrong-chain", chains, tracedChains, WRONG_OWNERS));
        if (oneTurnPerOperation) {
            double operations = truth.holdings().size();
            checks.add(Check.total(
                    "per-operation", truth.waitedNanos() / operations, blockedPerOperation, PER_OPERATION));
        }
        return checks;
    }
}
