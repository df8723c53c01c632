package tools.locktrace.suite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.locktrace.suite.shapes.CallPath;
import tools.locktrace.suite.truth.Blame;
import tools.locktrace.suite.truth.Truth;

/** What the trace of a case must show. */
final class Expectation {
    // In percent; README.md has the reasons and the figures.
    private static final double TOTAL = 3;
    private static final double BLOCKED = 2;
    private static final double OWNERS = 2;
    private static final double PARK_OWNERS = 5;
    private static final double WRONG_OWNERS = 2;
    private static final double PER_OPERATION = 10;
    private static final double SHAPE = 50;
    private static final double HAND_OVER = 25;
    private static final double UNCONTENDED = 90;

    private Expectation() {}

    /**
     * Compares a trace with what the threads noted.
     *
     * @param oneTurnPerOperation the truth shows how many operations there were
     * @param blockedPerOperation what the profiler says, in nanoseconds
     */
    static List<Check> check(Truth truth, Traced traced, boolean oneTurnPerOperation, double blockedPerOperation)
            throws IOException {
        Map<String, Double> ownerThreads = traced.byOwnerThread();
        Map<String, Double> ownerChains = traced.byOwnerChain();
        // For a thread that is woken to find the lock taken again, owners are known
        // less exactly; yet nobody may be blamed in another's place.
        double owners = truth.isOfParks() ? PARK_OWNERS : OWNERS;
        Blame pairs = truth.blameByPairs();
        Map<String, Double> tracedPairs = traced.byPair();
        Blame chains = truth.blame(turn -> turn.ownerChain);

        List<Check> checks = new ArrayList<>();
        checks.add(new Check("uncontended", 100 * (1 - truth.contended()), UNCONTENDED));
        checks.add(new Check("shape", 100 * truth.deviationFromDesign(), SHAPE));
        Blame blame = truth.blame(turn -> turn.thread);
        checks.add(new Check("hand-over", 100 * blame.handOvers() / blame.total(), HAND_OVER));
        checks.add(Check.total("total", truth.waitedNanos(), Check.total(ownerThreads), TOTAL));
        checks.add(Check.shares("lock", truth.waited(turn -> turn.lock), traced.byLock(), BLOCKED));
        checks.add(Check.shares("thread", truth.waited(turn -> turn.thread), traced.byThread(), BLOCKED));
        checks.add(Check.shares("chain", truth.waited(turn -> turn.blockedChain), traced.byChain(), BLOCKED));
        checks.add(Check.shares("owner-thread", blame, ownerThreads, owners));
        checks.add(Check.shares("pair", pairs, tracedPairs, owners));
        checks.add(Check.wrong("wrong-pair", pairs, tracedPairs, WRONG_OWNERS));
        checks.add(Check.shares("owner-method", truth.blame(turn -> CallPath.method(turn.ownerChain)),
                traced.byOwnerMethod(), owners));
        checks.add(Check.shares("owner-chain", chains, ownerChains, owners));
        checks.add(Check.wrong("wrong-chain", chains, ownerChains, WRONG_OWNERS));
        if (oneTurnPerOperation) {
            double operations = truth.holdings().size();
            checks.add(Check.total(
                    "per-operation", truth.waitedNanos() / operations, blockedPerOperation, PER_OPERATION));
        }
        return checks;
    }
}
