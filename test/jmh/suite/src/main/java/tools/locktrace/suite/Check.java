package tools.locktrace.suite;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.locktrace.suite.truth.Truth;

/** One number that a trace is judged by: how far it is from the truth. */
final class Check {
    /** Of a name in a message: a call chain may have 200 frames. */
    private static final int LONGEST_NAME = 100;

    private final String name;
    private final double difference;
    private final double tolerance;
    /** Those whom only the truth or only the trace knows of. */
    private final Set<String> unmatched;

    private Check(String name, double difference, double tolerance, Set<String> unmatched) {
        this.name = name;
        this.difference = difference;
        this.tolerance = tolerance;
        this.unmatched = unmatched;
    }

    Check(String name, double difference, double tolerance) {
        this(name, difference, tolerance, Collections.emptySet());
    }

    /** Compares totals: how many percent the traced one is more or less. */
    static Check total(String name, double truth, double traced, double tolerance) {
        return new Check(name, 100 * Math.abs(traced / truth - 1), tolerance);
    }

    /**
     * Compares shares: how many percent of the blocked time the trace blames on
     * somebody else than the truth does. No single share is further off. So that
     * one among a thousand counts, too, nobody may be missing or made up.
     */
    static Check shares(String name, Map<String, Double> truth, Map<String, Double> traced, double tolerance) {
        Set<String> keys = new TreeSet<>(truth.keySet());
        keys.addAll(traced.keySet());
        double difference = 0;
        for (String key : keys) {
            difference += Math.abs(share(key, truth) - share(key, traced));
        }
        return new Check(name, 100 * difference / 2, tolerance, unmatched(truth, traced));
    }

    /** Who has a small part may be missing: the lock may have been free again before anybody blocked. */
    private static Set<String> unmatched(Map<String, Double> truth, Map<String, Double> traced) {
        Set<String> unmatched = new TreeSet<>(traced.keySet());
        unmatched.removeAll(truth.keySet());
        double fewest = total(truth) / truth.size() / 2;
        truth.forEach((key, sum) -> {
            if (sum >= fewest && !traced.containsKey(key)) {
                unmatched.add(key);
            }
        });
        unmatched.remove(Truth.NOBODY);
        return unmatched;
    }

    private static double share(String key, Map<String, Double> sums) {
        return sums.getOrDefault(key, 0.0) / total(sums);
    }

    static double total(Map<String, Double> sums) {
        return sums.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** A difference that is no number is outside, too. */
    boolean passes() {
        return difference <= tolerance && unmatched.isEmpty();
    }

    @Override
    public String toString() {
        return String.format("%s %.2f%s%s", name, difference,
                difference <= tolerance ? "" : " > " + tolerance,
                unmatched.isEmpty() ? "" : " and " + unmatched.size() + " unmatched, such as " + anUnmatched());
    }

    private String anUnmatched() {
        String name = unmatched.iterator().next();
        return name.substring(0, Math.min(name.length(), LONGEST_NAME));
    }
}
