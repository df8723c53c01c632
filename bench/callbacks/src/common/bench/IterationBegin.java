package bench;

/** The class of the object that {@link Mark#begin} parks on. */
final class IterationBegin {
    static final IterationBegin BLOCKER = new IterationBegin();

    private IterationBegin() {}
}
