package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A planned convoy and a planned stampede, several times each.
 *
 * <p>All threads queue up for one lock before the first gets it, and each holds it for a while. Then all
 * wait for a condition, are all woken, and one of them finds something to do.
 *
 * <p>Prints {@code hold ROUND ACQUIRED_NS RELEASED_NS LEFT_NS} for each hold in a convoy, and how often
 * threads were woken from the condition, and how often for nothing.
 */
public final class Convoys {
    private static final class Queue {
    }

    private static final long HOLD_MILLIS = 2;

    private static final Object QUEUE = new Queue();
    private static final List<String> HOLDS = new ArrayList<>();

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition WORK = LOCK.newCondition();
    private static int work;
    private static int done;
    private static int woken;
    private static int wokenForNothing;
    private static boolean stopped;

    private Convoys() {
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        for (int round = 0; round < rounds; round++) {
            convoy(threads, round);
        }
        HOLDS.forEach(System.out::println);
        stampedes(threads, rounds);
        System.out.println("woken " + woken + " " + wokenForNothing);
    }

    private static void convoy(int threads, int round) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        synchronized (QUEUE) {
            for (int at = 0; at < threads; at++) {
                Thread thread = new Thread(() -> hold(round), "convoy-" + at);
                thread.start();
                all.add(thread);
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
            HOLDS.add("hold " + round + " 0 " + System.nanoTime() + " 0");
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    private static void hold(int round) {
        long acquired;
        long released;
        synchronized (QUEUE) {
            acquired = System.nanoTime();
            sleep();
            released = System.nanoTime();
        }
        long left = System.nanoTime();
        synchronized (HOLDS) {
            HOLDS.add("hold " + round + " " + acquired + " " + released + " " + left);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(HOLD_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void stampedes(int threads, int rounds) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int at = 0; at < threads; at++) {
            Thread thread = new Thread(Convoys::workWhenWoken, "worker-" + at);
            thread.start();
            all.add(thread);
        }
        for (int round = 0; round < rounds; round++) {
            awaitAllWaiting(all, round);
            wakeAll(false);
        }
        awaitAllWaiting(all, rounds);
        wakeAll(true);
        for (Thread thread : all) {
            thread.join();
        }
    }

    /** A thread that is signalled before it has parked for the condition will not wait for it. */
    private static void awaitAllWaiting(List<Thread> threads, int workDone) throws InterruptedException {
        while (!isDone(workDone, threads.size()) || !threads.stream().allMatch(Convoys::isWaiting)) {
            Thread.sleep(1);
        }
    }

    /** All threads wait for the next signal. */
    private static boolean isDone(int workDone, int threads) {
        LOCK.lock();
        try {
            return done == workDone && LOCK.getWaitQueueLength(WORK) == threads;
        } finally {
            LOCK.unlock();
        }
    }

    private static boolean isWaiting(Thread thread) {
        return LockSupport.getBlocker(thread) == WORK && thread.getState() == Thread.State.WAITING;
    }

    private static void wakeAll(boolean stop) {
        LOCK.lock();
        try {
            stopped = stop;
            work = 1;
            WORK.signalAll();
        } finally {
            LOCK.unlock();
        }
    }

    private static void workWhenWoken() {
        while (true) {
            LOCK.lock();
            try {
                while (work == 0) {
                    WORK.awaitUninterruptibly();
                    woken++;
                    if (work == 0) {
                        wokenForNothing++;
                    }
                }
                if (stopped) {
                    return;
                }
                work = 0;
                done++;
            } finally {
                LOCK.unlock();
            }
        }
    }
}
