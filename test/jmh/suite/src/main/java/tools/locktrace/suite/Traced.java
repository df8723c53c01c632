package tools.locktrace.suite;

import java.io.File;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import tools.locktrace.jmh.LocktraceCommand;
import tools.locktrace.jmh.Report;
import tools.locktrace.suite.shapes.CallPath;
import tools.locktrace.suite.truth.Blame;
import tools.locktrace.suite.truth.Holding;

/** The figures of {@code locktrace} for the locks of a benchmark. */
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

    /** Returns the number of times that threads were blocked. */
    double waits() throws IOException {
        return Check.total(sums("lock,chain", nodes -> nodes.getFirst().key, leaf -> leaf.waits));
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

    /** Blocked nanoseconds by the method that held the lock. */
    Map<String, Double> byOwnerMethod() throws IOException {
        return sumsBy("owner-method");
    }

    /** Blocked nanoseconds by the call chain of the thread that held the lock. */
    Map<String, Double> byOwnerChain() throws IOException {
        return sumsBy("owner-chain");
    }

    /** Blocked nanoseconds by the blocked thread and the one that held the lock. */
    Map<String, Double> byPair() throws IOException {
        return sums(filtered("thread,owner-thread"), nodes -> {
            Iterator<Report.Node> innermost = nodes.descendingIterator();
            String owner = name(innermost.next());
            return name(innermost.next()) + Blame.BLOCKED_BY + owner;
        });
    }

    private Map<String, Double> sumsBy(String aspect) throws IOException {
        return sums(filtered(aspect), nodes -> name(nodes.getLast()));
    }

    /** The aspects by which waits are left out, and then others. */
    private String filtered(String aspects) {
        // The chain distinguishes notified threads from others.
        return (leavesOutNotified ? "lock,chain," : "lock,") + aspects;
    }

    private Map<String, Double> sums(String by, Function<Deque<Report.Node>, String> name) throws IOException {
        return sums(by, name, leaf -> leaf.durationNs);
    }

    private Map<String, Double> sums(String by, Function<Deque<Report.Node>, String> name,
            ToDoubleFunction<Report.Node> value) throws IOException {
        Report report = locktrace.report(trace, by);
        if (!report.trace.complete || report.trace.lostEvents != 0) {
            throw new IOException(trace + " is not complete, or lacks " + report.trace.lostEvents + " events");
        }
        Map<String, Double> sums = new TreeMap<>();
        Deque<Report.Node> nodes = new ArrayDeque<>();
        for (Report.Node lock : report.tree) {
            if (locks.contains(lock.key)) {
                addLeaves(lock, nodes, leaf -> sums.merge(name.apply(nodes), value.applyAsDouble(leaf), Double::sum));
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
