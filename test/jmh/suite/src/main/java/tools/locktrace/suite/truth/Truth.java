package tools.locktrace.suite.truth;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** What the threads of a fork noted, and the blame that follows from it. */
public final class Truth {
    /** Whom time is blamed on during which nobody held the lock. */
    public static final String NOBODY = "nobody";

    private final List<Holding> holdings;

    Truth(List<Holding> holdings) {
        this.holdings = holdings;
    }

    public static Truth read(Path path) throws IOException {
        return new Truth(TruthFile.read(path));
    }

    public List<Holding> holdings() {
        return holdings;
    }

    /** How long all threads together waited. */
    public long waitedNanos() {
        return holdings.stream().mapToLong(Holding::waitedNanos).sum();
    }

    /** How long threads waited, by an aspect of the waiting one. */
    public Map<String, Double> waited(Function<Holding, String> aspect) {
        Map<String, Double> waited = new TreeMap<>();
        for (Holding holding : holdings) {
            waited.merge(aspect.apply(holding), (double) holding.waitedNanos(), Double::sum);
        }
        return waited;
    }

    /**
     * How long threads waited, by an aspect of whoever held the lock meanwhile;
     * the rest is {@link #NOBODY}'s.
     */
    public Map<String, Double> blamed(Function<Holding, String> aspect) {
        Map<String, Double> blame = new TreeMap<>();
        for (List<Holding> lock : byLock()) {
            for (Holding blocked : lock) {
                blame(blocked, lock, aspect, blame);
            }
        }
        return blame;
    }

    /** Those of each lock, in the order in which they held it. */
    private Collection<List<Holding>> byLock() {
        Map<String, List<Holding>> locks = new TreeMap<>();
        for (Holding holding : holdings) {
            locks.computeIfAbsent(holding.lock, key -> new ArrayList<>()).add(holding);
        }
        locks.values().forEach(lock -> lock.sort(Comparator.comparingLong(holding -> holding.acquiredNanos)));
        return locks.values();
    }

    private static void blame(
            Holding blocked, List<Holding> lock, Function<Holding, String> aspect, Map<String, Double> blame) {
        int next = Collections.binarySearch(
                lock, blocked, Comparator.comparingLong(holding -> holding.acquiredNanos));
        long nobodys = blocked.waitedNanos();
        // Backwards from the owner before it to the one whom it found.
        for (int i = next - 1; i >= 0 && lock.get(i).releasedNanos > blocked.wantedNanos; i--) {
            Holding owner = lock.get(i);
            long from = Math.max(owner.acquiredNanos, blocked.wantedNanos);
            blame.merge(aspect.apply(owner), (double) (owner.releasedNanos - from), Double::sum);
            nobodys -= owner.releasedNanos - from;
        }
        blame.merge(NOBODY, (double) nobodys, Double::sum);
    }

    /**
     * How far the ratios of the times of holding are from the ratios of naps: by
     * how much the longest of the naps is longer than the shortest. Of equally
     * many naps the fastest count, for a machine may stand still now and then.
     */
    public double deviationFromDesign() {
        Map<Integer, Long> fastest = new TreeMap<>();
        holdings.stream().filter(holding -> holding.naps > 0)
                .forEach(holding -> fastest.merge(holding.naps, holding.heldNanos(), Math::min));
        DoubleSummaryStatistics naps = new DoubleSummaryStatistics();
        fastest.forEach((number, nanos) -> naps.accept((double) nanos / number));
        return naps.getMax() / naps.getMin() - 1;
    }

    /** The share of the time of all threads together during which they waited. */
    public double contended() {
        long begin = holdings.stream().mapToLong(holding -> holding.wantedNanos).min().orElse(0);
        long end = holdings.stream().mapToLong(holding -> holding.releasedNanos).max().orElse(0);
        long threads = holdings.stream().map(holding -> holding.thread).distinct().count();
        return (double) waitedNanos() / (threads * (end - begin));
    }

    @Override
    public String toString() {
        return String.format("%d turns, %.0f %% contended", holdings.size(), 100 * contended());
    }
}
