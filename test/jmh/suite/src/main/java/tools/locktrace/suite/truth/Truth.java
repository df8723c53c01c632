package tools.locktrace.suite.truth;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** The notes of the threads of a fork, and the blame that follows from them. */
public final class Truth {
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

    /** The locks are of {@code java.util.concurrent}. */
    public boolean isOfParks() {
        return holdings.stream().anyMatch(holding -> holding.lock.contains("@java.util.concurrent."));
    }

    /** Returns how long all threads together waited. */
    public long waitedNanos() {
        return holdings.stream().mapToLong(Holding::waitedNanos).sum();
    }

    /** Returns the number of turns that waited for this time or longer. */
    public long waits(long nanos) {
        return holdings.stream().filter(holding -> holding.waitedNanos() >= nanos).count();
    }

    /** Returns how long threads waited, by an aspect of the waiting one. */
    public Map<String, Double> waited(Function<Holding, String> aspect) {
        Map<String, Double> waited = new TreeMap<>();
        for (Holding holding : holdings) {
            waited.merge(aspect.apply(holding), (double) holding.waitedNanos(), Double::sum);
        }
        return waited;
    }

    /** Returns how long threads waited, by an aspect of the owner of the lock meanwhile. */
    public Blame blame(Function<Holding, String> aspect) {
        return blame(waiting -> "", aspect);
    }

    /** Returns how long each thread waited, by the thread that held the lock meanwhile. */
    public Blame blameByPairs() {
        return blame(waiting -> waiting.thread + Blame.BLOCKED_BY, owner -> owner.thread);
    }

    private Blame blame(Function<Holding, String> blocked, Function<Holding, String> aspect) {
        Map<String, List<Holding>> locks = new TreeMap<>();
        for (Holding holding : holdings) {
            locks.computeIfAbsent(holding.lock, key -> new ArrayList<>()).add(holding);
        }
        Blame blame = new Blame();
        long wakeUpNanos = isOfParks() ? wakeUpNanos() : 0;
        locks.values().forEach(lock -> new LockHistory(lock, wakeUpNanos).blame(blocked, aspect, blame));
        return blame;
    }

    /** Returns how much longer than the fastest a nap takes on average: a thread that wakes up
     * needs a processor. */
    private long wakeUpNanos() {
        long fastest = napping().mapToLong(holding -> holding.heldNanos() / holding.naps).min().orElse(0);
        return meanNapNanos() - fastest;
    }

    /** For which share of the time the machine stood still at once, as naps that took too long show. */
    public double standstill() {
        long mean = meanNapNanos();
        long longest = napping().mapToLong(holding -> holding.heldNanos() - holding.naps * mean).max().orElse(0);
        return longest / durationNanos();
    }

    private long meanNapNanos() {
        long naps = napping().mapToLong(holding -> holding.naps).sum();
        return napping().mapToLong(Holding::heldNanos).sum() / Math.max(1, naps);
    }

    private Stream<Holding> napping() {
        return holdings.stream().filter(holding -> holding.naps > 0);
    }

    /**
     * Returns the deviation of the ratios of the times of holding from the ratios of naps: from how
     * much longer the longest of the naps is than the shortest. Of equally many naps the fastest
     * count, for a machine may stand still now and then.
     */
    public double deviationFromDesign() {
        Map<Integer, Long> fastest = new TreeMap<>();
        napping().forEach(holding -> fastest.merge(holding.naps, holding.heldNanos(), Math::min));
        DoubleSummaryStatistics naps = new DoubleSummaryStatistics();
        fastest.forEach((number, nanos) -> naps.accept((double) nanos / number));
        return naps.getMax() / naps.getMin() - 1;
    }

    /** The share of the time of all threads together during which they waited. */
    public double contended() {
        long threads = holdings.stream().map(holding -> holding.thread).distinct().count();
        return waitedNanos() / (threads * durationNanos());
    }

    private double durationNanos() {
        long begin = holdings.stream().mapToLong(holding -> holding.wantedNanos).min().orElse(0);
        long end = holdings.stream().mapToLong(holding -> holding.releasedNanos).max().orElse(0);
        return end - begin;
    }

    @Override
    public String toString() {
        return String.format("%d turns, %.0f %% contended", holdings.size(), 100 * contended());
    }
}
