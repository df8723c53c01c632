package tools.locktrace.jmx;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of a report. */
final class Figures {
    /** The key of what has no row of its own. */
    private static final String OTHER = "other";

    private final Map<String, Object> totals;
    private final int deadlocks;
    private final long lostEvents;
    /** By lock class and owner's method, longest first. */
    private final List<Contention> contentions = new ArrayList<>();

    private Figures(Map<String, Object> report) {
        totals = Json.object(report.get("totals"));
        deadlocks = Json.array(report.get("deadlocks")).size();
        lostEvents = Json.number(Json.object(report.get("trace")).get("lost_events"));
        for (Object lockClass : Json.array(report.get("tree"))) {
            Map<String, Object> of = Json.object(lockClass);
            for (Object owner : Json.array(of.get("children"))) {
                contentions.add(contention((String) of.get("label"), Json.object(owner)));
            }
        }
        contentions.sort(Comparator.comparingLong(Contention::getBlockedNanos).reversed());
    }

    /** Reads the figures of a report by lock class and owner's method first. */
    static Figures of(String report) {
        return new Figures(Json.object(Json.parse(report)));
    }

    private static Contention contention(String lockClass, Map<String, Object> row) {
        return new Contention(
                lockClass,
                (String) row.get("label"),
                Json.number(row.get("duration_ns")),
                Json.number(row.get("waits")),
                Json.number(row.get("max_wait_ns")));
    }

    long blockedNanos() {
        return Json.number(totals.get("duration_ns"));
    }

    long freeNanos() {
        return Json.number(totals.get("free_ns"));
    }

    long unknownOwnerNanos() {
        return Json.number(totals.get("unknown_owner_ns"));
    }

    long waits() {
        return Json.number(totals.get("waits"));
    }

    long longestWaitNanos() {
        return Json.number(totals.get("max_wait_ns"));
    }

    long blockedThreads() {
        return Json.number(Json.object(totals.get("still_blocked")).get("threads"));
    }

    long deadlocks() {
        return deadlocks;
    }

    long lostEvents() {
        return lostEvents;
    }

    /** Returns at most {@code count} rows; the last one is the sum of those that are left out. */
    Map<String, Contention> topContentions(int count) {
        Map<String, Contention> rows = new LinkedHashMap<>();
        int own = contentions.size() > count ? count - 1 : count;
        Contention others = null;
        for (Contention row : contentions) {
            if (rows.size() < own) {
                // Methods of one name can differ in their parameters.
                rows.merge(row.getLockClass() + " " + row.getOwnerMethod(), row, Figures::sum);
            } else {
                others = others == null ? named(OTHER, row) : sum(others, row);
            }
        }
        if (others != null) {
            rows.put(OTHER, others);
        }
        return rows;
    }

    private static Contention named(String name, Contention row) {
        return new Contention(
                name, name, row.getBlockedNanos(), row.getWaits(), row.getLongestWaitNanos());
    }

    /** A wait that has a part in both counts twice. */
    private static Contention sum(Contention row, Contention other) {
        return new Contention(
                row.getLockClass(),
                row.getOwnerMethod(),
                row.getBlockedNanos() + other.getBlockedNanos(),
                row.getWaits() + other.getWaits(),
                Math.max(row.getLongestWaitNanos(), other.getLongestWaitNanos()));
    }
}
