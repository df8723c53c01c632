package tools.locktrace.suite.shapes;

import java.util.Arrays;
import java.util.List;
import tools.locktrace.suite.truth.Turn;

/** Locks that an exception releases. */
final class ThrowingGuards {
    private ThrowingGuards() {}

    private static final class TurnOver extends RuntimeException {
        private static final long serialVersionUID = 1;
        static final TurnOver INSTANCE = new TurnOver();

        private TurnOver() {
            super(null, null, false, false);
        }
    }

    /** The exception leaves a synchronized block. */
    static final class Block extends Guard {
        @Override
        void locked(Turn turn) {
            try {
                runAndThrow(turn);
            } catch (TurnOver over) {
                // As expected.
            }
        }

        private void runAndThrow(Turn turn) {
            synchronized (this) {
                turn.run();
                throw TurnOver.INSTANCE;
            }
        }

        @Override
        List<String> methods() {
            return Arrays.asList("runAndThrow", "locked");
        }
    }

    /** The exception leaves a synchronized method. */
    static final class Method extends Guard {
        @Override
        void locked(Turn turn) {
            try {
                runAndThrow(turn);
            } catch (TurnOver over) {
                // As expected.
            }
        }

        private synchronized void runAndThrow(Turn turn) {
            turn.run();
            throw TurnOver.INSTANCE;
        }

        @Override
        List<String> methods() {
            return Arrays.asList("runAndThrow", "locked");
        }
    }
}
