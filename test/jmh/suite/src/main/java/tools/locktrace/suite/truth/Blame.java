package tools.locktrace.suite.truth;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The time that each owner kept others waiting, as far as the owners' clocks show.
 *
 * <p>Between the time that an owner notes just before it releases the lock and
 * the one that the next notes just after it acquired it, either may have had the
 * lock, or nobody: they may have been stopped on the way. Mostly this takes some
 * microseconds, but a busy machine can make it long.
 */
public final class Blame {
    /** Whom time is blamed on during which nobody held the lock. */
    public static final String NOBODY = "nobody";

    /** In the name of an owner that counts only for one thread that waits, after that thread. */
    public static final String BLOCKED_BY = " blocked by ";

    private final Map<String, Double> certain = new TreeMap<>();
    private final Map<String, Double> possible = new TreeMap<>();
    private double handOvers;

    public Blame() {
        possible.put(NOBODY, 0.0);
    }

    /** An owner held the lock while somebody waited. */
    public void hold(String owner, long nanos) {
        certain.merge(owner, (double) nanos, Double::sum);
    }

    /** A hand-over during which somebody waited, between these owners. */
    public void handOver(long nanos, String nobody, Set<String> owners) {
        handOvers += nanos;
        possible.merge(nobody, (double) nanos, Double::sum);
        for (String owner : owners) {
            possible.merge(owner, (double) nanos, Double::sum);
        }
    }

    /** All who may be blamed. */
    public Set<String> owners() {
        Set<String> owners = new TreeSet<>(certain.keySet());
        owners.addAll(possible.keySet());
        return owners;
    }

    /** For how long an owner is to be blamed for certain. */
    public double least(String owner) {
        return certain.getOrDefault(owner, 0.0);
    }

    /** For how long an owner may be blamed. */
    public double most(String owner) {
        return least(owner) + possible.getOrDefault(owner, 0.0);
    }

    /** The time of all hand-overs. */
    public double handOvers() {
        return handOvers;
    }

    /** All time that anybody waited. */
    public double total() {
        return handOvers() + certain.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
