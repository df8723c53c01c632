package scenarios;

/**
 * A thread contends in compiled code that it reaches in several ways. They have the same depth, and
 * begin and end with the same methods: they differ only in a return address in between.
 *
 * <p>Argument: the number of rounds for each compiler.
 *
 * <p>The trace must show what {@link Contender} says.
 *
 * <p>Prints {@code meetings COUNT}, and {@code compiled true} if there was compiled
 * code in the end.
 */
public final class CallSites {
    /** Frames outside of all ways. */
    private static final int DEPTH = 5;

    private CallSites() {}

    public static void main(String[] args) {
        Contender contender = new Contender();
        // Loads the classes, so that compiled code can count on them.
        descend(DEPTH, 1, contender);
        int rounds = Integer.parseInt(args[0]);
        for (Compilation compilation : new Compilation[] {Compilation.C1, Compilation.C2}) {
            compilation.apply(Contender.class);
            compilation.apply(CallSites.class);
            descend(DEPTH, rounds, contender);
        }
        contender.print();
        System.out.println("meetings " + contender.meetings());
        System.out.println("compiled " + Compilation.isCompiled(CallSites.class));
    }

    private static void descend(int depth, int rounds, Encounter encounter) {
        if (depth > 0) {
            descend(depth - 1, rounds, encounter);
            return;
        }
        for (int round = 0; round < rounds; round++) {
            branch(encounter);
        }
    }

    private static void branch(Encounter encounter) {
        pass(encounter);
        pass(encounter);
        pass(encounter);
    }

    private static void pass(Encounter encounter) {
        encounter.meet();
    }
}
