package tools.locktrace.suite;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import tools.locktrace.suite.truth.Blame;

/** One number that a trace is judged by: how far it is from the truth. */
final class Check {
    /** Limit of a name in a message: a call chain may have 200 frames. */
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

    /** Compares a number of which only two limits are known. */
    static Check between(String name, double least, double most, double traced, double tolerance) {
        double outside = Math.max(1 - traced / least, traced / most - 1);
        return new Check(name, 100 * Math.max(0, outside), tolerance);
    }

    /**
     * Compares shares: how many percent of the blocked time the trace gives to
     * somebody else than the truth does. No single share is further off. So that
     * one among a thousand counts, too, nobody may be missing or made up.
     */
    static Check shares(String name, Map<String, Double> truth, Map<String, Double> traced, double tolerance) {
        return shares(name, truth.keySet(), key -> truth.getOrDefault(key, 0.0),
                key -> truth.getOrDefault(key, 0.0), total(truth), traced, tolerance);
    }

    /** The same for owners, each of whom may be blamed for hand-overs or not. */
    static Check shares(String name, Blame truth, Map<String, Double> traced, double tolerance) {
        return shares(name, truth.owners(), truth::least, truth::most, truth.total(), traced, tolerance);
    }

    /**
     * The percentage of the blocked time that the trace blames on owners who did not hold the lock
     * then. Time without an owner does not count.
     */
    static Check wrong(String name, Blame truth, Map<String, Double> traced, double tolerance) {
        double tracedTotal = total(traced);
        double tooMuch = 0;
        for (Map.Entry<String, Double> owner : traced.entrySet()) {
            if (!owner.getKey().endsWith(Blame.NOBODY)) {
                tooMuch += Math.max(0, owner.getValue() / tracedTotal - truth.most(owner.getKey()) / truth.total());
            }
        }
        return new Check(name, 100 * tooMuch, tolerance);
    }

    private static Check shares(String name, Set<String> known, ToDoubleFunction<String> least,
            ToDoubleFunction<String> most, double total, Map<String, Double> traced, double tolerance) {
        double tracedTotal = total(traced);
        // A thread with a small part may be missing: the lock may have been free again before
        // anybody blocked.
        double mustBeThere = total / known.size() / 2;
        double tooLittle = 0;
        double tooMuch = 0;
        Set<String> unmatched = new TreeSet<>(traced.keySet());
        unmatched.removeAll(known);
        for (String key : known) {
            double share = traced.getOrDefault(key, 0.0) / tracedTotal;
            tooLittle += Math.max(0, least.applyAsDouble(key) / total - share);
            tooMuch += Math.max(0, share - most.applyAsDouble(key) / total);
            if (least.applyAsDouble(key) >= mustBeThere && !traced.containsKey(key)) {
                unmatched.add(key);
            }
        }
        return new Check(name, 100 * Math.max(tooLittle, tooMuch), tolerance, unmatched);
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
