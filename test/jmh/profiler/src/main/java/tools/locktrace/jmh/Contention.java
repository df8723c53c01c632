package tools.locktrace.jmh;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** The contention of a benchmark, summed up. */
final class Contention {
    /** In the name of each class that JMH generates. */
    private static final String GENERATED = ".jmh_generated.";

    /** The number of times that threads were blocked. */
    final long waits;
    /** The time that they were blocked, all together. */
    final long blockedNs;
    private final Map<String, Long> ownersNs = new HashMap<>();

    private Contention(Report byMethodAndOwner) {
        long waits = 0;
        long blockedNs = 0;
        for (Report.Node method : byMethodAndOwner.tree) {
            if (!method.key.contains(GENERATED)) {
                waits += method.waits;
                blockedNs += method.durationNs;
                method.children.forEach(this::addOwner);
            }
        }
        this.waits = waits;
        this.blockedNs = blockedNs;
    }

    /** From a report by blocked method and owner method. */
    static Contention of(Report byMethodAndOwner) {
        return new Contention(byMethodAndOwner);
    }

    private void addOwner(Report.Node owner) {
        if (owner.isKnown()) {
            ownersNs.merge(owner.label, owner.durationNs, Long::sum);
        }
    }

    /** Returns the time that the methods that held the locks longest blocked others, in
     * nanoseconds. */
    Map<String, Long> topOwners(int number) {
        Map<String, Long> top = new LinkedHashMap<>();
        ownersNs.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(number)
                .forEach(owner -> top.put(owner.getKey(), owner.getValue()));
        return top;
    }
}
