package tools.locktrace.suite;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** One number that a trace is judged by: how far it is from the truth. */
final class Check {
    private final String name;
    private final double difference;
    private final double tolerance;

    Check(String name, double difference, double tolerance) {
        this.name = name;
        this.difference = difference;
        this.tolerance = tolerance;
    }

    /**
     * Compares shares: how many percent of the blocked time the trace blames on
     * somebody else than the truth does. No single share is further off.
     */
    static Check shares(String name, Map<String, Double> truth, Map<String, Double> traced, double tolerance) {
        Set<String> keys = new TreeSet<>(truth.keySet());
        keys.addAll(traced.keySet());
        double difference = 0;
        for (String key : keys) {
            difference += Math.abs(share(key, truth) - share(key, traced));
        }
        return new Check(name, 100 * difference / 2, tolerance);
    }

    private static double share(String key, Map<String, Double> sums) {
        return sums.getOrDefault(key, 0.0) / total(sums);
    }

    /** Compares totals: how many percent the traced one is more or less. */
    static Check total(String name, double truth, double traced, double tolerance) {
        return new Check(name, 100 * Math.abs(traced / truth - 1), tolerance);
    }

    static double total(Map<String, Double> sums) {
        return sums.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** A difference that is no number is outside, too. */
    boolean passes() {
        return difference <= tolerance;
    }

    @Override
    public String toString() {
        return String.format("%s %.2f%s", name, difference, passes() ? "" : " > " + tolerance);
    }
}
