package tools.locktrace.suite.truth;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** The owners of a lock over time, and the blame for the waits of others. */
final class LockHistory {
    private final List<Holding> holdings;
    private final long wakeUpNanos;

    /**
     * @param wakeUpNanos for so long, after an owner has overtaken those who wait,
     *         the one that was woken cannot know that it has
     */
    LockHistory(Collection<Holding> holdings, long wakeUpNanos) {
        this.holdings = new ArrayList<>(holdings);
        this.wakeUpNanos = wakeUpNanos;
    }

    /**
     * Blames each wait on an aspect of those who kept the thread waiting.
     *
     * @param blocked what their names begin with, an aspect of the thread that waits
     */
    void blame(Function<Holding, String> blocked, Function<Holding, String> aspect, Blame blame) {
        for (Holding waiting : holdings) {
            if (waiting.waitedNanos() > 0) {
                String prefix = blocked.apply(waiting);
                blame(waiting, prefix + Blame.NOBODY, owner -> prefix + aspect.apply(owner), blame);
            }
        }
    }

    private void blame(Holding waiting, String nobody, Function<Holding, String> aspect, Blame blame) {
        List<Holding> meanwhile = new ArrayList<>();
        Holding before = null;
        for (Holding other : holdings) {
            if (other.releasedNanos <= waiting.wantedNanos) {
                before = before == null || other.releasedNanos > before.releasedNanos ? other : before;
            } else if (other.wantedNanos < waiting.acquiredNanos && other != waiting) {
                meanwhile.add(other);
            }
        }

        Set<String> neighbours = new HashSet<>();
        if (before != null) {
            neighbours.add(aspect.apply(before));
        }
        long handOverNanos = 0;
        long fromNanos = waiting.wantedNanos;
        for (long toNanos : ends(waiting, meanwhile)) {
            Holding blamed = blamed(waiting, meanwhile, fromNanos, toNanos);
            if (blamed == null) {
                handOverNanos += toNanos - fromNanos;
            } else {
                String name = aspect.apply(blamed);
                neighbours.add(name);
                blame.handOver(handOverNanos, nobody, neighbours);
                handOverNanos = 0;
                neighbours.clear();
                neighbours.add(name);
                boolean overtook = blamed.acquiredNanos == fromNanos && blamed.wantedNanos > waiting.wantedNanos;
                long unseenNanos = overtook ? Math.min(wakeUpNanos, toNanos - fromNanos) : 0;
                blame.handOver(unseenNanos, nobody, neighbours);
                blame.hold(name, toNanos - fromNanos - unseenNanos);
            }
            fromNanos = toNanos;
        }
        blame.handOver(handOverNanos, nobody, neighbours);
    }

    /** Returns the times at which a wait is cut: the lock changes hands, or the wait is over. */
    private static NavigableSet<Long> ends(Holding waiting, List<Holding> meanwhile) {
        TreeSet<Long> ends = new TreeSet<>();
        for (Holding other : meanwhile) {
            ends.add(other.acquiredNanos);
            ends.add(other.releasedNanos);
        }
        ends.add(waiting.acquiredNanos);
        return ends.subSet(waiting.wantedNanos, false, waiting.acquiredNanos, true);
    }

    /**
     * Returns the holding that keeps a thread waiting in a time in which nobody acquires or
     * releases: the one whose release will free enough units for it, be it of the only owner, the
     * last reader, or the permit that is the first to be free. If enough units are free already, it
     * queues behind a thread that needs more, and waits for the same release as the first of these.
     * Otherwise it is nobody: the lock is being handed over.
     */
    private static Holding blamed(Holding waiting, List<Holding> meanwhile, long fromNanos, long toNanos) {
        List<Holding> holders = new ArrayList<>();
        int free = waiting.lockUnits;
        for (Holding other : meanwhile) {
            if (other.acquiredNanos <= fromNanos && toNanos <= other.releasedNanos) {
                holders.add(other);
                free -= other.units;
            }
        }
        if (free < waiting.units) {
            return freeing(holders, free, waiting.units);
        }
        Holding first = null;
        for (Holding other : meanwhile) {
            boolean isBefore = other.wantedNanos < waiting.wantedNanos && toNanos <= other.acquiredNanos;
            if (isBefore && free < other.units && (first == null || other.wantedNanos < first.wantedNanos)) {
                first = other;
            }
        }
        return first == null ? null : freeing(holders, free, first.units);
    }

    /** Returns the holder with whose release enough units are free; null if that is not the case when all have released. */
    private static Holding freeing(List<Holding> holders, int free, int wanted) {
        holders.sort(Comparator.comparingLong(holder -> holder.releasedNanos));
        int released = free;
        for (Holding holder : holders) {
            released += holder.units;
            if (released >= wanted) {
                return holder;
            }
        }
        return null;
    }
}
