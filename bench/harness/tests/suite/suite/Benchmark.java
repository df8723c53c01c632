package suite;

import java.util.concurrent.locks.LockSupport;

/** The benchmarks of the suites of this jar. Their iterations have a known number of parks. */
public enum Benchmark {
    /** Parks 1000 times in the first iteration, then 10 times in each. */
    PARKS {
        @Override
        boolean iterate(int iteration) {
            int parks = iteration == 1 ? 1000 : 10;
            for (int i = 0; i < parks; i++) {
                LockSupport.parkNanos(this, 1);
            }
            return true;
        }
    },
    /** Gives a wrong result in the second iteration. */
    WRONG {
        @Override
        boolean iterate(int iteration) {
            return iteration != 2;
        }
    },
    /** Never ends. */
    HANGS {
        @Override
        boolean iterate(int iteration) {
            while (true) {
                LockSupport.park();
            }
        }
    },
    /** Fails with an exception. */
    CRASHES {
        @Override
        boolean iterate(int iteration) {
            throw new IllegalStateException("as requested");
        }
    };

    /** Returns whether the result is right. */
    abstract boolean iterate(int iteration);

    @Override
    public String toString() {
        return name().toLowerCase();
    }

    /** Prints the names of all. */
    static void list(String separator) {
        StringBuilder names = new StringBuilder();
        for (Benchmark benchmark : values()) {
            names.append(benchmark).append(separator);
        }
        System.out.println(names);
    }
}
