package tools.locktrace.suite.shapes;

import java.util.Arrays;
import java.util.List;
import tools.locktrace.suite.truth.Turn;

/** The guards that {@code synchronized} provides. */
final class IntrinsicGuards {
    private IntrinsicGuards() {}

    /** A block. */
    static final class Block extends Guard {
        @Override
        void locked(Turn turn) {
            synchronized (this) {
                turn.run();
            }
        }
    }

    /** A method. */
    static final class Method extends Guard {
        @Override
        synchronized void locked(Turn turn) {
            turn.run();
        }
    }

    /** A static method, which locks its class. */
    static final class StaticMethod extends Guard {
        @Override
        void locked(Turn turn) {
            lockedClass(turn);
        }

        private static synchronized void lockedClass(Turn turn) {
            turn.run();
        }

        @Override
        Object lock() {
            return StaticMethod.class;
        }

        @Override
        List<String> methods() {
            return Arrays.asList("lockedClass", "locked");
        }
    }

    /** A block on a class literal. */
    static final class ClassLiteral extends Guard {
        @Override
        void locked(Turn turn) {
            synchronized (ClassLiteral.class) {
                turn.run();
            }
        }

        @Override
        Object lock() {
            return ClassLiteral.class;
        }
    }
}
