package pairs;

import java.util.Random;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** Figures are computed and added up under one lock; or in adders and accumulators without one. All of it computes. */
public final class Atomics extends Program {
    private final boolean isAtomic;
    private final Figures figures = new Figures();

    public Atomics(boolean isAfter) {
        super(2, 3_000);
        isAtomic = isAfter;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.compute(random, 100);
        if (isAtomic) {
            figures.addAtomically(sample(random));
        } else {
            synchronized (figures) {
                figures.add(sample(random));
            }
        }
    }

    private static int sample(Random random) {
        Work.compute(random, 1_000);
        return random.nextInt();
    }

    private static final class Figures {
        private long sum;
        private long most;
        private final LongAdder atomicSum = new LongAdder();
        private final LongAccumulator atomicMost = new LongAccumulator(Math::max, Long.MIN_VALUE);

        void add(int value) {
            sum += value;
            most = Math.max(most, value);
        }

        void addAtomically(int value) {
            atomicSum.add(value);
            atomicMost.accumulate(value);
        }
    }
}
