package tools.locktrace.suite.shapes;

import java.util.Arrays;
import java.util.List;
import tools.locktrace.suite.truth.Demand;
import tools.locktrace.suite.truth.Turn;

/**
 * A lock and the code that holds it. The shapes know no more of locks than this,
 * so another kind of lock is another guard.
 */
abstract class Guard {
    private String key;

    /** Waits for the lock, holds it while the turn runs, and releases it. */
    final void hold(Turn turn) {
        turn.wants(demand());
        locked(turn);
    }

    /** Runs {@link Turn#run} while holding the lock. */
    abstract void locked(Turn turn);

    /** The object whose monitor this is, or for which threads park. */
    Object lock() {
        return this;
    }

    /** Returns the part of the lock that a turn needs. */
    Demand demand() {
        return Demand.WHOLE;
    }

    /** Returns the identity of the lock in a trace. */
    final String key() {
        if (key == null) {
            key = Turn.lockKey(lock());
        }
        return key;
    }

    /** The methods of this guard in a call chain that waits, from {@link #locked} inwards, innermost first. */
    List<String> methods() {
        return Arrays.asList("locked");
    }

    /** The same in a call chain that releases the lock. */
    List<String> releasingMethods() {
        return methods();
    }

    /** A turn with this lock. */
    final Turn turn(int naps, Paths paths) {
        return turn(naps, paths, Turn.NOTHING);
    }

    /** A turn that does something else, too, while it holds the lock. */
    final Turn turn(int naps, Paths paths, Runnable then) {
        return Turn.of(naps, key(), paths.blocked, paths.owner, then);
    }

    /** Returns the frames of {@link #hold} and its callers in call chains. */
    final Paths paths(CallPath callers) {
        return new Paths(holdingPath(callers), path(releasingMethods(), callers));
    }

    /** Returns the frames of {@link #hold} and its callers in a call chain while a turn runs. */
    final CallPath holdingPath(CallPath callers) {
        return path(methods(), callers);
    }

    private CallPath path(List<String> methods, CallPath callers) {
        CallPath path = new CallPath();
        for (String method : methods) {
            path.calledBy(getClass(), method);
        }
        return path.calledBy(Guard.class, "hold").calledBy(callers);
    }
}
