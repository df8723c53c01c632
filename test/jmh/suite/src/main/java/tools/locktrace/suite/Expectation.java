package tools.locktrace.suite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.locktrace.suite.truth.Holding;
import tools.locktrace.suite.truth.Truth;

/** What the trace of a case must show. */
final class Expectation {
    /** Percent of the blocked time, see {@code README.md} for the reasons. */
    private static final double SHARES = 5;
    private static final double TOTAL = 5;
    private static final double SHAPE = 50;
    private static final double OPERATIONS = 10;
    private static final double UNCONTENDED = 80;

    private Expectation() {}

    /**
     * Compares a trace with what the threads noted.
     *
     * @param hasDesign the threads wait for each other all the time
     * @param blockedPerOperation what the profiler says, in nanoseconds
     */
    static List<Check> check(Truth truth, Traced traced, boolean hasDesign, double blockedPerOperation)
            throws IOException {
        Map<String, Double> ownerThreads = traced.byOwnerThread();
        Map<String, Double> ownerChains = traced.byOwnerChain();

        List<Check> checks = new ArrayList<>();
        checks.add(new Check("uncontended", 100 * (1 - truth.contended()), UNCONTENDED));
        checks.add(new Check("shape", 100 * truth.deviationFromDesign(), SHAPE));
        checks.add(Check.total("total", truth.waitedNanos(), Check.total(ownerThreads), TOTAL));
        checks.add(Check.shares("lock", truth.waited(turn -> turn.lock), traced.byLock(), SHARES));
        checks.add(Check.shares("thread", truth.waited(turn -> turn.thread), traced.byThread(), SHARES));
        checks.add(Check.shares("chain", truth.waited(turn -> turn.blockedChain), traced.byChain(), SHARES));
        checks.add(Check.shares("owner-thread", truth.blamed(turn -> turn.thread), ownerThreads, SHARES));
        checks.add(Check.shares("owner-chain", truth.blamed(turn -> turn.ownerChain), ownerChains, SHARES));
        if (hasDesign) {
            double operations = truth.holdings().size();
            checks.add(Check.total(
                    "per-operation", truth.waitedNanos() / operations, blockedPerOperation, OPERATIONS));
        }
        return checks;
    }
}
