package scenarios;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread after the other parks, each to be woken in another way, and is named
 * after that way.
 *
 * <p>Prints {@code thread NAME ID BLOCKER_HASH} for each, and
 * {@code deadline UNIX_MS}. The trace must show why each park ended, and which
 * unpark of which thread ended it.
 */
public final class ParkEndings {
    /** The JVM calls a thread waiting a moment before it really is. */
    private static final long BLOCKING_MILLIS = 50;
    private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);

    private ParkEndings() {}

    public static void main(String[] args) throws InterruptedException {
        Natives.load();
        unparked();
        permitAvailable();
        interrupted();
        timedOut();
        withoutBlocker();
        natives();
    }

    private static void unparked() throws InterruptedException {
        run("unparked", ParkEndings::park, LockSupport::unpark);
        run("unparked-in-time", blocker -> LockSupport.parkNanos(blocker, HOUR_NANOS), LockSupport::unpark);
    }

    private static void permitAvailable() throws InterruptedException {
        run("permit-available", blocker -> {
            LockSupport.unpark(Thread.currentThread());
            park(blocker);
        });
        run("second-permit", blocker -> {
            LockSupport.unpark(Thread.currentThread());
            LockSupport.unpark(Thread.currentThread());
            park(blocker);
        });
        run("unparked-then-interrupted", blocker -> {
            LockSupport.unpark(Thread.currentThread());
            Thread.currentThread().interrupt();
            park(blocker);
        });
    }

    private static void interrupted() throws InterruptedException {
        run("interrupted", ParkEndings::park, Thread::interrupt);
        run("interrupted-before", blocker -> {
            Thread.currentThread().interrupt();
            park(blocker);
            park(blocker); // there is no permit any more, but it is still interrupted
        });
        run("interrupted-then-unparked", blocker -> {
            Thread.currentThread().interrupt();
            LockSupport.unpark(Thread.currentThread());
            park(blocker);
        });
        run("stopped", ParkEndings::parkUntilStopped, ParkEndings::stop);
    }

    private static void timedOut() throws InterruptedException {
        run("timed-out", blocker -> LockSupport.parkNanos(blocker, 2_000_000));
        run("deadline", blocker -> {
            long deadline = System.currentTimeMillis() + 5;
            System.out.println("deadline " + deadline);
            LockSupport.parkUntil(blocker, deadline);
        });
        run("deadline-over", blocker -> LockSupport.parkUntil(blocker, 1));
        run("deadline-zero", blocker -> LockSupport.parkUntil(blocker, 0));
    }

    private static void withoutBlocker() throws InterruptedException {
        run("without-blocker", blocker -> LockSupport.park(), LockSupport::unpark);
        run("without-blocker-timed-out", blocker -> LockSupport.parkNanos(2_000_000));
    }

    /** Threads that native code attached park and unpark. */
    private static void natives() throws InterruptedException {
        run("unparked-by-native", ParkEndings::park,
                thread -> runAttached("native-unparker", () -> LockSupport.unpark(thread)));
        Blocker blocker = new Blocker();
        runAttached("native-parker", () -> {
            print(Thread.currentThread(), blocker);
            LockSupport.unpark(Thread.currentThread());
            park(blocker);
        });
    }

    private static void park(Blocker blocker) {
        LockSupport.park(blocker); // @park
    }

    private static void parkUntilStopped(Blocker blocker) {
        try {
            park(blocker);
        } catch (ThreadDeath expected) {
            // The park is over.
        }
    }

    @SuppressWarnings("deprecation")
    private static void stop(Thread thread) {
        thread.stop();
    }

    /** Runs a thread that needs nobody to wake it. */
    private static void run(String name, Body body) throws InterruptedException {
        Blocker blocker = new Blocker();
        start(name, body, blocker).join();
    }

    /** Runs a thread that another one has to wake. */
    private static void run(String name, Body body, Waker waker) throws InterruptedException {
        Blocker blocker = new Blocker();
        Thread thread = start(name, body, blocker);
        while (!isParked(thread)) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        TimeUnit.MILLISECONDS.sleep(BLOCKING_MILLIS);
        waker.wake(thread); // @wake
        thread.join();
    }

    private static Thread start(String name, Body body, Blocker blocker) {
        Thread thread = new Thread(() -> body.run(blocker), name);
        print(thread, blocker);
        thread.start();
        return thread;
    }

    private static void print(Thread thread, Blocker blocker) {
        System.out.println("thread " + thread.getName() + " " + thread.getId() + " "
                + System.identityHashCode(blocker));
    }

    /** A thread can also wait for a class to be initialized. */
    private static boolean isParked(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].getMethodName().equals("park")
                && thread.getState().name().endsWith("WAITING");
    }

    /** The object that threads park on; extends a class for the trace to name. */
    private static final class Blocker extends Place {}

    private static class Place {}

    private interface Body {
        void run(Blocker blocker);
    }

    private interface Waker {
        void wake(Thread thread);
    }

    /** Runs {@code body} in a native thread that attaches itself under a name, to its end. */
    private static native void runAttached(String name, Runnable body);
}
