package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread owns a lock that another one waits for, and unparks a thread again and again from deep in the
 * stack: there is not much more to do than what a tracer does in its hook.
 *
 * <p>Prints how long the owner did that, in nanoseconds on a processor: others may want that. Without a
 * tracer, the same takes as long as the rest of it does.
 */
public final class TracersTime {
    private static final int DEPTH = 300;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static final class Held {
    }

    private TracersTime() {
    }

    public static void main(String[] args) throws Exception {
        int unparks = Integer.parseInt(args[0]);
        Held lock = new Held();
        // It waits for nothing but the lock, and has all the permits.
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                System.out.println("acquired");
            }
        }, "waiter");
        // By now everything is compiled and described.
        descend(DEPTH, unparks / 10, Thread.currentThread());
        synchronized (lock) {
            waiter.start();
            while (waiter.getState() != Thread.State.BLOCKED) {
                Thread.yield();
            }
            System.out.println("unparked " + descend(DEPTH, unparks, waiter));
        }
        waiter.join();
    }

    private static long descend(int depth, int unparks, Thread target) {
        if (depth > 0) {
            return descend(depth - 1, unparks, target);
        }
        long begin = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < unparks; i++) {
            LockSupport.unpark(target);
        }
        return THREADS.getCurrentThreadCpuTime() - begin;
    }
}
