package scenarios;

/**
 * A thread contends in long loops, whose frames are replaced by compiled ones as
 * they run. Every second time the innermost frame then ends with an exception.
 *
 * <p>Argument: the number of rounds, at most 99; the loop of each is another
 * one, which is not compiled yet.
 *
 * <p>The trace must show what {@link Contender} says.
 *
 * <p>Prints {@code sums HEX}, a hash of the results.
 */
public final class Loops {
    private static final int DEPTH = 3;

    private Loops() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        Contender contender = new Contender();
        long sums = 0;
        int rounds = Integer.parseInt(args[0]);
        for (int round = 1; round <= rounds; round++) {
            Class<?> type = Compilation.define("Loop00", String.format("Loop%02d", round));
            Compilation.keepApart(type);
            Loop loop = (Loop) type.newInstance();
            boolean failing = round % 2 == 0;
            long sum = loop.run(DEPTH, failing, contender);
            long expected = loop.run(DEPTH, failing, Encounter.NONE);
            if (sum != expected) {
                throw new AssertionError(sum + ", not " + expected);
            }
            sums = 31 * sums + sum;
        }
        contender.print();
        System.out.println("sums " + Long.toHexString(sums));
    }
}
