package tools.locktrace.suite.truth;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.CompilerControl;

/**
 * One holding of a lock by a thread, timed by that thread on the clock of
 * {@link System#nanoTime}, in memory.
 *
 * <p>The time that a lock is held consists of naps: each sleeps for
 * {@link #NAP_NANOS} and as much longer as the machine makes it. So two holdings
 * of one and two naps have this ratio also where the processor is busy, and 32
 * holders need no processor.
 *
 * <p>Never inlined: its rarely taken branches would deoptimize the code that
 * releases the lock, which is under test.
 */
@CompilerControl(CompilerControl.Mode.DONT_INLINE)
public final class Turn {
    static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The work of a turn that does nothing else. */
    public static final Runnable NOTHING = () -> {};

    final int naps;
    final String lock;
    final String blockedChain;
    final String ownerChain;
    private final Runnable then;

    Demand demand = Demand.WHOLE;
    long wantedNanos;
    long acquiredNanos;
    long releasedNanos;

    private Turn(int naps, String lock, String blockedChain, String ownerChain, Runnable then) {
        this.naps = naps;
        this.lock = lock;
        this.blockedChain = blockedChain;
        this.ownerChain = ownerChain;
        this.then = then;
    }

    /** A turn that lets compilers see the code around it. */
    public static Turn warmUp(Runnable then) {
        return new Turn(0, null, null, null, then);
    }

    /** A turn that lets compilers see the code around it. */
    public static Turn warmUp() {
        return warmUp(NOTHING);
    }

    /** A turn that waits and holds with the same call chain. */
    public static Turn of(int naps, String lock, String chain) {
        return of(naps, lock, chain, chain);
    }

    /** A turn that waits and holds with different call chains. */
    public static Turn of(int naps, String lock, String blockedChain, String ownerChain) {
        return of(naps, lock, blockedChain, ownerChain, NOTHING);
    }

    /** A turn that does something else, too, while it holds the lock. */
    public static Turn of(int naps, String lock, String blockedChain, String ownerChain, Runnable then) {
        return new Turn(naps, lock, blockedChain, ownerChain, then);
    }

    /** Returns the identity of a monitor, or of a blocker, in {@code locktrace report}. */
    public static String lockKey(Object lock) {
        return String.format("%x@%s", System.identityHashCode(lock), lock.getClass().getName());
    }

    /** Just before the thread asks for a part of the lock. */
    public void wants(Demand part) {
        demand = part;
        wants();
    }

    /** Just before the thread asks for the lock. */
    public void wants() {
        wantedNanos = System.nanoTime();
    }

    /** The thread wanted the lock at some time that it could not note itself. */
    public void wantedAt(long nanos) {
        wantedNanos = nanos;
    }

    /** Just after the thread acquired the lock. */
    public void acquired() {
        acquiredNanos = System.nanoTime();
    }

    /** Just before the thread releases the lock. */
    public void releases() {
        releasedNanos = System.nanoTime();
    }

    /** Returns the time of its release. */
    public long releasedNanos() {
        return releasedNanos;
    }

    /** Runs the work of the thread while it holds the lock. */
    public void run() {
        acquired();
        nap();
        then.run();
        releases();
    }

    /** Lets as much time pass as the lock is to be held. */
    public void nap() {
        nap(naps);
    }

    /** Lets time pass without using a processor. */
    public static void nap(int naps) {
        for (int i = 0; i < naps; i++) {
            long end = System.nanoTime() + NAP_NANOS;
            for (long left = NAP_NANOS; left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }
}
