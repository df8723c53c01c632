package scenarios;

import java.util.Arrays;

/**
 * Compiled frames are thrown away while a thread that has contended stands in
 * them, and while the return barrier below it is on the stack: a class is loaded that the
 * code did not count on, or something happens that it did not.
 *
 * <p>Argument: the number of rounds, at most 99, each with classes of its own.
 *
 * <p>The trace must show what {@link Contender} says.
 *
 * <p>Prints {@code thrown-away COUNT}: rounds in which there was compiled code
 * before the class was loaded, and none after; and {@code results HEX}, a hash.
 */
public final class Deoptimizations {
    private static final int DEPTH = 6;
    private static final int WARM_UP = 8_000;

    private static int thrownAway;

    private final String number;
    private final Contender contender;
    private Class<?> type;
    private boolean eventful;
    private int rare = -1;

    private Deoptimizations(int round, Contender contender) {
        number = String.format("%02d", round);
        this.contender = contender;
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        Contender contender = new Contender();
        long results = 0;
        int rounds = Integer.parseInt(args[0]);
        for (int round = 1; round <= rounds; round++) {
            results = 31 * results + new Deoptimizations(round, contender).run();
        }
        contender.print();
        System.out.println("thrown-away " + thrownAway);
        System.out.println("results " + Long.toHexString(results));
    }

    private long run() throws ReflectiveOperationException {
        define("Base00");
        type = define("Recursion00");
        Compilation.keepApart(type);
        Recursion recursion = (Recursion) type.newInstance();
        long plain = 0;
        for (int i = 0; i < WARM_UP; i++) {
            plain = recursion.call(DEPTH, this);
        }
        eventful = true;
        check(plain, recursion.call(DEPTH, this));

        // Compiled again, for two classes.
        eventful = false;
        for (int i = 0; i < WARM_UP; i++) {
            check(plain, recursion.call(DEPTH, this));
        }
        eventful = true;
        long[] results = new long[DEPTH + 1];
        for (rare = 0; rare <= DEPTH; rare++) {
            results[rare] = recursion.call(DEPTH, this);
        }
        eventful = false;
        for (rare = 0; rare <= DEPTH; rare++) {
            check(recursion.call(DEPTH, this), results[rare]);
        }
        return Arrays.hashCode(results);
    }

    /** A round's own class. */
    private Class<?> define(String template) {
        return Compilation.define(template, "00", number);
    }

    private static void check(long expected, long found) {
        if (found != expected) {
            throw new AssertionError(found + ", not " + expected);
        }
    }

    // Called by the methods that are discarded.

    long end() {
        if (eventful && rare < 0) {
            contender.meet();
            boolean compiled = Compilation.isCompiled(type);
            define("Derived00");
            thrownAway += compiled && !Compilation.isCompiled(type) ? 1 : 0;
        }
        return 1;
    }

    Encounter leaving(int depth) {
        return eventful && depth % 2 == 0 ? contender : Encounter.NONE;
    }

    boolean isRareAt(int depth) {
        return depth == rare;
    }
}
