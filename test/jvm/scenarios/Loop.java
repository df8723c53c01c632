package scenarios;

/** A method with a long loop, see {@link Loops}. */
interface Loop {
    int ITERATIONS = 400_000;

    /** Enough for the loop to be compiled in between, by one compiler after the other. */
    int ITERATIONS_PER_MEETING = 40_000;

    long run(int depth, boolean failing, Encounter encounter);
}
