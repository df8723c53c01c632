package tools.locktrace.suite.shapes;

import java.util.function.IntConsumer;

/** Lets the compilers see code that a benchmark runs too rarely for them. */
final class WarmUp {
    private static final int CALLS = 20_000;

    private WarmUp() {}

    /** Calls something again and again, without contention. */
    static void of(IntConsumer code) {
        for (int i = 0; i < CALLS; i++) {
            code.accept(i);
        }
    }
}
