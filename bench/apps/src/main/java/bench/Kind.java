package bench;

/** Kinds of results of an application. */
enum Kind {
    /** A real application of many threads. */
    MULTI,
    /** A real application of one thread, where tracing should cost nothing. */
    SINGLE,
    /** A program that does nothing but contend, wait or park. */
    SYNTHETIC;

    /** As {@code --list} prints it. */
    @Override
    public String toString() {
        return name().toLowerCase();
    }
}
