package scenarios;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that block each other for good, in the way that the first argument names.
 *
 * <p>Once all of them are blocked, the JVM itself is asked who waits for whom, and its
 * answer is printed:
 *
 * <pre>
 * blocked THREAD LOCK OWNER              of each blocked thread
 * holds THREAD LOCK FRAME                of each of them, for each lock held
 * deadlocked THREAD                      of each thread that findDeadlockedThreads() names
 * </pre>
 *
 * LOCK is class and identity hash as the JVM prints them, FRAME the method that acquired
 * the lock, {@code -} for a lock of java.util.concurrent. The program then goes on for
 * {@value #BLOCKED_MILLIS} ms and ends as the second argument says: by return, or never.
 */
public final class Deadlocks {
    private static final long BLOCKED_MILLIS = 300;

    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

    private final List<Thread> threads = new ArrayList<>();
    /** Counts those that have yet to take their first lock. */
    private CountDownLatch firstLocks;

    private Deadlocks() {}

    public static void main(String[] args) throws Exception {
        Deadlocks program = new Deadlocks();
        program.start(args[0]);
        program.awaitBlocked();
        program.print();
        System.out.println("all blocked");
        Thread.sleep(args[1].equals("return") ? BLOCKED_MILLIS : Long.MAX_VALUE);
    }

    private void start(String way) throws InterruptedException {
        Monitor a = new Monitor();
        Monitor b = new Monitor();
        Monitor c = new Monitor();
        ReentrantLock r = new ReentrantLock();
        ReentrantLock s = new ReentrantLock();
        switch (way) {
            case "monitors":
                run(() -> a.before(b::enter), () -> b.before(a::enter));
                break;
            case "inflated":
                run(() -> a.inflatedBefore(b::enter), () -> b.inflatedBefore(a::enter));
                break;
            case "three":
                run(() -> a.before(b::enter), () -> b.before(c::enter), () -> c.before(a::enter));
                break;
            case "reentrant-locks":
                run(() -> before(r, s::lock), () -> before(s, r::lock));
                break;
            case "mixed":
                run(() -> a.before(r::lock), () -> before(r, a::enter));
                break;
            case "two-cycles":
                run(() -> a.before(b::enter), () -> b.before(a::enter),
                    () -> before(r, s::lock), () -> before(s, r::lock));
                // These wait for the cycles, and are not part of them.
                onlooker(a::enter);
                onlooker(r::lock);
                break;
            case "contended-before":
                // The threads have waited for their first locks, too.
                run(() -> a.contendedBefore(b::enter), () -> b.contendedBefore(a::enter));
                break;
            case "after-wait":
                run(() -> a.before(b::waitUntilTaken), () -> b.takeBefore(a::enter));
                break;
            case "stuck-owner":
                run(() -> a.before(Deadlocks::sleep), () -> before(r, Deadlocks::sleep));
                onlooker(a::enter);
                onlooker(r::lock);
                break;
            default:
                throw new IllegalArgumentException(way);
        }
    }

    /** Runs each in a thread of its own. */
    private void run(Runnable... bodies) throws InterruptedException {
        firstLocks = new CountDownLatch(bodies.length);
        for (Runnable body : bodies) {
            start("worker-" + threads.size(), body);
        }
        firstLocks.await();
    }

    /** Runs it in a thread of its own once the locks are taken. */
    private void onlooker(Runnable body) {
        start("onlooker-" + threads.size(), body);
    }

    private void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** Returns when all threads have taken their first locks. */
    private void meet() {
        CountDownLatch all = firstLocks;
        all.countDown();
        try {
            all.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitBlocked() throws InterruptedException {
        for (Thread thread : threads) {
            while (!isBlocked(thread) && thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
        }
    }

    private static boolean isBlocked(Thread thread) {
        ThreadInfo info = BEAN.getThreadInfo(thread.getId());
        return info.getThreadState() == Thread.State.BLOCKED || info.getLockOwnerName() != null;
    }

    private void print() {
        long[] ids = threads.stream().mapToLong(Thread::getId).toArray();
        for (ThreadInfo info : BEAN.getThreadInfo(ids, true, true)) {
            String name = info.getThreadName();
            if (info.getThreadState() != Thread.State.TIMED_WAITING) {
                System.out.printf("blocked %s %s %s%n", name, info.getLockInfo(), info.getLockOwnerName());
            }
            for (MonitorInfo lock : info.getLockedMonitors()) {
                StackTraceElement frame = lock.getLockedStackFrame();
                System.out.printf("holds %s %s %s.%s%n", name, lock, frame.getClassName(), frame.getMethodName());
            }
            for (LockInfo lock : info.getLockedSynchronizers()) {
                System.out.printf("holds %s %s -%n", name, lock);
            }
        }
        long[] deadlocked = BEAN.findDeadlockedThreads();
        if (deadlocked != null) {
            for (ThreadInfo info : BEAN.getThreadInfo(deadlocked)) {
                System.out.printf("deadlocked %s%n", info.getThreadName());
            }
        }
    }

    private void before(ReentrantLock lock, Runnable then) {
        lock.lock();
        meet();
        then.run();
    }

    private static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** An intrinsic lock. */
    private final class Monitor {
        private boolean taken;

        /** Nobody has contended for it, so it is locked on the owner's stack only. */
        void before(Runnable then) {
            synchronized (this) {
                meet();
                then.run();
            }
        }

        /** Its owner is a thread from the start. */
        void inflatedBefore(Runnable then) {
            synchronized (this) {
                await(1);
                meet();
                then.run();
            }
        }

        /** The caller had to wait for it. */
        void contendedBefore(Runnable then) {
            Held held = new Held(Thread.currentThread());
            Thread first = new Thread(() -> hold(held), "first owner");
            first.start();
            held.awaitEntered();
            synchronized (this) {
                meet();
                then.run();
            }
        }

        private synchronized void hold(Held held) {
            held.run();
        }

        /** Lets the other thread have it, and wants it back. */
        synchronized void waitUntilTaken() {
            while (!taken) {
                await(1);
            }
        }

        /** Takes it from the thread that waits. */
        void takeBefore(Runnable then) {
            meet();
            synchronized (this) {
                taken = true;
                then.run();
            }
        }

        private void await(long millis) {
            try {
                wait(millis);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        synchronized void enter() {
            throw new AssertionError("it is never released");
        }
    }
}
