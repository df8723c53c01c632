package bench;

/** The class of the object that {@link Mark#end} parks on. */
final class IterationEnd {
    static final IterationEnd BLOCKER = new IterationEnd();

    private IterationEnd() {}
}
