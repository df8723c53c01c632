package tools.locktrace.suite.shapes;

import tools.locktrace.suite.truth.Turn;

/**
 * Any number of distinct call chains from two methods: which of them calls next
 * is one bit of the chain's number, the lowest first. A chain of depth d begins
 * with {@code a}, so there are 2^(d-1) of them.
 */
final class Chains {
    private Chains() {}

    /** Holds a lock below the chain with a number. */
    static void hold(Guard guard, Turn turn, int depth, int number) {
        a(guard, turn, depth - 1, number);
    }

    private static void a(Guard guard, Turn turn, int left, int bits) {
        if (left == 0) {
            guard.hold(turn);
        } else if ((bits & 1) == 0) {
            a(guard, turn, left - 1, bits >>> 1);
        } else {
            b(guard, turn, left - 1, bits >>> 1);
        }
    }

    private static void b(Guard guard, Turn turn, int left, int bits) {
        if (left == 0) {
            guard.hold(turn);
        } else if ((bits & 1) == 0) {
            a(guard, turn, left - 1, bits >>> 1);
        } else {
            b(guard, turn, left - 1, bits >>> 1);
        }
    }

    /** Returns the frames of {@link #hold} in a call chain. */
    static CallPath path(int depth, int number) {
        CallPath path = new CallPath();
        for (int bit = depth - 2; bit >= 0; bit--) {
            boolean isA = bit >= Integer.SIZE || (number >>> bit & 1) == 0;
            path.calledBy(Chains.class, isA ? "a" : "b");
        }
        return path.calledBy(Chains.class, "a").calledBy(Chains.class, "hold");
    }
}
