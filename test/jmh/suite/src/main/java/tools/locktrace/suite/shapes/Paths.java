package tools.locktrace.suite.shapes;

/** The call chains of a turn. */
final class Paths {
    /** While it waits for the lock. */
    final String blocked;
    /** The path at the release of the lock. */
    final String owner;

    Paths(CallPath blocked, CallPath owner) {
        this.blocked = blocked.toString();
        this.owner = owner.toString();
    }
}
