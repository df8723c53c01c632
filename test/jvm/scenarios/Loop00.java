package scenarios;

/** Loops in each frame of a recursion, the innermost first, and may end there with an exception. */
final class Loop00 implements Loop {
    @Override
    public long run(int depth, boolean failing, Encounter encounter) {
        long sum;
        try {
            sum = depth == 0 ? 1 : run(depth - 1, failing, encounter);
        } catch (Failure e) {
            if (depth == 1) {
                throw e;
            }
            sum = Long.parseLong(e.getMessage());
        }
        for (int i = 0; i < ITERATIONS; i++) {
            if (i % ITERATIONS_PER_MEETING == 0) {
                encounter.meet();
            }
            sum = 31 * sum + i;
        }
        if (failing && depth == 0) {
            throw new Failure(Long.toString(sum));
        }
        return sum;
    }
}
