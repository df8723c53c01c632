package scenarios;

import java.util.ArrayList;
import java.util.List;

/**
 * Contends with one other thread, its partner, whenever that one calls {@link #meet}.
 *
 * <p>In each meeting the partner is blocked once as it enters a lock, and has
 * the contender blocked as it leaves. The tracer walks the partner's stack both
 * times, and leaves a return barrier on the stack below {@link #meet}.
 *
 * <p>Nobody parks or is notified, so these are the partner's only events. All
 * waiting is for another thread's next step; no time matters.
 *
 * <p>The trace must show, for each line {@code met FRAME ...} that {@link
 * #print} prints, one wait of the partner for a {@link Point} in {@code meet},
 * called by these frames, innermost first, written {@code CLASS.METHOD:LINE};
 * and of those waits of the contender that have an owner, the owner in {@code meet}
 * as well, called by such frames.
 */
final class Contender extends Thread implements Encounter {
    /** The time that a thread goes on after another one was seen blocked, which still may spin. */
    private static final long SPIN_NANOS = 30_000;

    private final Point point = new Point();
    private final Thread partner = Thread.currentThread();
    private final List<Throwable> met = new ArrayList<>();
    private int passed;

    // The number of the last meeting that has come so far.
    private volatile int begun;
    private volatile int held;
    private volatile int entered;

    /** The class of the lock. */
    private static final class Point {}

    /** A contender of the current thread. */
    Contender() {
        super("contender");
        Natives.load();
        setDaemon(true);
        start();
    }

    @Override
    public void meet() {
        met.add(new Throwable());
        int meeting = begun + 1;
        begun = meeting;
        while (held != meeting) {
            Natives.pause();
        }
        synchronized (point) { // @wanted
            entered = meeting;
            awaitBlocked(this);
        } // @left
    }

    @Override
    public void run() {
        for (int meeting = 1; ; meeting++) {
            while (begun != meeting) {
                Natives.pause();
            }
            synchronized (point) {
                held = meeting;
                awaitBlocked(partner);
            }
            while (entered != meeting) {
                Natives.pause();
            }
            synchronized (point) {
                passed++;
            }
        }
    }

    /** Sleeps for a millisecond. */
    static void sleep() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a little after a thread is blocked, so that it most likely waits in the queue. */
    static void awaitBlocked(Thread thread) {
        while (thread.getState() != Thread.State.BLOCKED) {
            Natives.pause();
        }
        long seen = System.nanoTime();
        while (System.nanoTime() - seen < SPIN_NANOS) {
            Natives.pause();
        }
    }

    /** Returns the number of meetings. */
    int meetings() {
        return begun;
    }

    /** Prints where each meeting was. */
    void print() {
        StringBuilder lines = new StringBuilder();
        for (Throwable meeting : met) {
            lines.append("met");
            appendFrames(meeting, 1, lines);
        }
        System.out.print(lines);
    }

    /** Appends the frames of a stack trace, without the innermost ones. */
    static void appendFrames(Throwable at, int first, StringBuilder lines) {
        StackTraceElement[] frames = at.getStackTrace();
        for (int i = first; i < frames.length; i++) {
            StackTraceElement frame = frames[i];
            lines.append(' ').append(frame.getClassName()).append('.').append(frame.getMethodName());
            lines.append(':').append(frame.getLineNumber());
        }
        lines.append('\n');
    }
}
