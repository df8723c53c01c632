package scenarios;

/**
 * One way to hold a lock and one way to want it.
 *
 * <p>The comment on top of every implementation says what the trace must show,
 * in a form that the checker reads:
 *
 * <pre>
 * lock   CLASS             class of the contended object
 * owner  CLASS.METHOD LINE one frame of the owner's call chain, innermost first
 * waiter CLASS.METHOD LINE one frame of the blocked thread's call chain
 * </pre>
 *
 * LINE names a line of the class's source that carries the comment
 * {@code // @NAME}; {@code -} stands for a frame of the JDK or of native code,
 * whose line is not checked. {@code A|B} stands for line A in the interpreter,
 * and A or B in compiled code: compilers do not know which instruction unlocks
 * a synchronized method and credit its first line. A {@code *} ends a class
 * name whose rest the JDK makes up at run time. The frame of the thread's
 * {@code run} below these is the same for all scenarios and not listed.
 */
interface Scenario {
    /** Acquires the lock, runs {@code held}, and releases the lock. */
    void own(Held held) throws Exception;

    /** Acquires and releases the lock. */
    void want() throws Exception;

    /** Runs while the owner holds the lock and the other thread is blocked, once in each round. */
    default void onBlocked() {}

    /** Returns how often to run both methods before it counts, so that they are compiled. */
    default int warmUp() {
        return 20_000;
    }
}
