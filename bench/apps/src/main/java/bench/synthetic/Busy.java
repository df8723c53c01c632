package bench.synthetic;

/** Work that takes a processor and nothing else. */
final class Busy {
    private static final long MULTIPLIER = 6364136223846793005L;
    private static final long INCREMENT = 1442695040888963407L;

    private Busy() {}

    /**
     * Does as many steps as given, each a multiplication and an addition that
     * depend on the step before, hence about 1 ns.
     *
     * @return a number that depends on all steps, to be used as the next seed
     */
    static long steps(int count, long seed) {
        long state = seed;
        for (int i = 0; i < count; i++) {
            state = state * MULTIPLIER + INCREMENT;
        }
        return state;
    }

    /** Returns the result of {@link #steps} without taking all the steps. */
    static long state(long steps, long seed) {
        long multiplier = MULTIPLIER;
        long increment = INCREMENT;
        long state = seed;
        // Steps of twice the length each time, of which the bits of their number are taken.
        for (long rest = steps; rest > 0; rest >>= 1) {
            if ((rest & 1) == 1) {
                state = state * multiplier + increment;
            }
            increment = increment * multiplier + increment;
            multiplier *= multiplier;
        }
        return state;
    }
}
