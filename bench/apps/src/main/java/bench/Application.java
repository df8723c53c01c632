package bench;

/**
 * A program whose cost of tracing is measured. Its constructor prepares what all
 * iterations need, once per JVM. An iteration does the same work each time, and
 * what it leaves to the next one does not grow.
 */
public interface Application extends AutoCloseable {
    /** One iteration of the work: what is timed. */
    void iterate() throws Exception;

    /**
     * Looks at the result of the iteration just made. This is not timed.
     *
     * @throws WrongResult if the result is not the expected one
     */
    void check() throws Exception;

    /** Ends threads and deletes files. */
    @Override
    default void close() throws Exception {}
}
