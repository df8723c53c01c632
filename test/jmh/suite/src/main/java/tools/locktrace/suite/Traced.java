package tools.locktrace.suite;

import java.io.File;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.locktrace.jmh.LocktraceCommand;
import tools.locktrace.jmh.Report;
import tools.locktrace.suite.shapes.CallPath;
import tools.locktrace.suite.truth.Blame;
import tools.locktrace.suite.truth.Holding;

/** What {@code locktrace} says about the locks of a benchmark. */
final class Traced {
    private final LocktraceCommand locktrace;
    private final File trace;
    private final Set<String> locks = new HashSet<>();
    private final boolean leavesOutNotified;

    /**
     * @param holdings name the locks; others, such as those of JMH, are left out
     * @param leavesOutNotified waits after {@code Object.wait} are left out, too
     */
    Traced(LocktraceCommand locktrace, File trace, Collection<Holding> holdings, boolean leavesOutNotified) {
        this.locktrace = locktrace;
        this.trace = trace;
        this.leavesOutNotified = leavesOutNotified;
        holdings.forEach(holding -> locks.add(holding.lock));
    }

    /** Blocked nanoseconds by lock. */
    Map<String, Double> byLock() throws IOException {
        return sums("lock,chain", nodes -> nodes.getFirst().key);
    }

    /** Blocked nanoseconds by the call chain of the blocked thread. */
    Map<String, Double> byChain() throws IOException {
        return sums("lock,chain", nodes -> name(nodes.getLast()));
    }

    /** Blocked nanoseconds by the blocked thread. */
    Map<String, Double> byThread() throws IOException {
        return sumsBy("thread");
    }

    /** Blocked nanoseconds by the thread that held the lock. */
    Map<String, Double> byOwnerThread() throws IOException {
        return sumsBy("owner-thread");
    }

    /** Blocked nanoseconds by the call chain of the thread that held the lock. */
    Map<String, Double> byOwnerChain() throws IOException {
        return sumsBy("owner-chain");
    }

    private Map<String, Double> sumsBy(String aspect) throws IOException {
        // The chain tells notified threads from others.
        return sums((leavesOutNotified ? "lock,chain," : "lock,") + aspect, nodes -> name(nodes.getLast()));
    }

    private Map<String, Double> sums(String by, Function<Deque<Report.Node>, String> name) throws IOException {
        Report report = locktrace.report(trace, by);
        if (!report.trace.complete || report.trace.lostEvents != 0) {
            throw new IOException(trace + " is not complete, or lacks " + report.trace.lostEvents + " events");
        }
        Map<String, Double> sums = new TreeMap<>();
        Deque<Report.Node> nodes = new ArrayDeque<>();
        for (Report.Node lock : report.tree) {
            if (locks.contains(lock.key)) {
                addLeaves(lock, nodes, leaf -> sums.merge(name.apply(nodes), (double) leaf.durationNs, Double::sum));
            }
        }
        return sums;
    }

    /** Hands over the leaves below a node; the nodes from the root to the leaf are on the stack. */
    private void addLeaves(Report.Node node, Deque<Report.Node> nodes, Consumer<Report.Node> leaves) {
        if (leavesOutNotified && name(node).startsWith(CallPath.WAIT)) {
            return;
        }
        nodes.addLast(node);
        if (node.children.isEmpty()) {
            leaves.accept(node);
        }
        node.children.forEach(child -> addLeaves(child, nodes, leaves));
        nodes.removeLast();
    }

    private static String name(Report.Node node) {
        if (!node.isKnown()) {
            return Blame.NOBODY;
        }
        if (node.frames.isEmpty()) {
            return node.label;
        }
        CallPath path = new CallPath();
        node.frames.forEach(frame -> path.calledBy(frame.className(), frame.method));
        return path.toString();
    }
}
