package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Eight threads block each other on three locks, for 1 to 4 milliseconds at a
 * time. In every third turn a thread keeps its lock while it takes another one,
 * and is blocked by one thread while it blocks others; in every fifth it enters
 * its lock twice.
 *
 * <p>Every thread is blocked by the main thread when it asks for its first
 * lock: so its first wait in the trace is for its first hold.
 *
 * <p>Prints
 *
 * <ul>
 *   <li>{@code clock STEP_NS}: the resolution of the clock;
 *   <li>{@code hold THREAD LOCK WANTED_NS ACQUIRED_NS RELEASED_NS LEFT_NS} for
 *       each time that a thread had a lock;
 *   <li>{@code blocked FROM_NS TO_NS THREAD...}: between these times, the JVM
 *       called these threads {@link Thread.State#BLOCKED}.
 * </ul>
 */
public final class ManyLocks {
    private static final int WORKERS = 8;
    private static final int LOCKS = 3;
    private static final int TURNS = 180;
    private static final long WATCH_NANOS = 100_000;

    private final Lock[] locks = new Lock[LOCKS];
    private final Worker[] workers = new Worker[WORKERS];

    private ManyLocks() {
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Lock();
        }
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Worker(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Held.nanos(1); // a class that is still being initialized would make the first threads wait, too
        new ManyLocks().run();
    }

    private void run() throws InterruptedException {
        Watcher watcher = new Watcher();
        watcher.start();
        List<Hold> first = new ArrayList<>();
        startBehind(0, first);
        for (Worker worker : workers) {
            worker.join();
        }
        watcher.join();

        System.out.println("clock " + clockStepNanos());
        print("main", first);
        for (Worker worker : workers) {
            print(worker.getName(), worker.holds);
        }
        for (String sighting : watcher.sightings) {
            System.out.println(sighting);
        }
    }

    /** Holds all locks until every worker is blocked. */
    private void startBehind(int lock, List<Hold> holds) throws InterruptedException {
        if (lock == LOCKS) {
            for (Worker worker : workers) {
                worker.start();
                while (worker.getState() != Thread.State.BLOCKED) {
                    TimeUnit.MILLISECONDS.sleep(1);
                }
            }
            return;
        }
        Hold hold = new Hold(locks[lock]);
        holds.add(hold);
        hold.want();
        synchronized (locks[lock]) {
            hold.acquired();
            startBehind(lock + 1, holds);
            hold.release();
        }
        hold.left();
    }

    private static void print(String thread, List<Hold> holds) {
        for (Hold hold : holds) {
            System.out.println("hold " + thread + " " + hold);
        }
    }

    private static long clockStepNanos() {
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < 1_000; i++) {
            long begin = System.nanoTime();
            long end = begin;
            while (end == begin) {
                end = System.nanoTime();
            }
            shortest = Math.min(shortest, end - begin);
        }
        return shortest;
    }

    /** Has a class of its own, for the checker to find its waits by. */
    private static final class Lock {}

    private final class Worker extends Thread {
        private final int number;
        private final Random random;
        private final List<Hold> holds = new ArrayList<>(2 * TURNS);

        Worker(int number) {
            super("worker-" + number);
            this.number = number;
            this.random = new Random(number);
        }

        @Override
        public void run() {
            for (int turn = 0; turn < TURNS; turn++) {
                int lock = (number + turn) % LOCKS;
                if (turn % 5 == 0) {
                    takeTwice(lock);
                } else if (turn % 3 == 0 && lock + 1 < LOCKS) {
                    takeWithNext(lock);
                } else {
                    take(lock);
                }
            }
        }

        private void take(int lock) {
            Hold hold = want(lock);
            synchronized (locks[lock]) {
                hold.acquired();
                hold();
                hold.release();
            }
            hold.left();
        }

        private void takeTwice(int lock) {
            Hold hold = want(lock);
            synchronized (locks[lock]) {
                hold.acquired();
                synchronized (locks[lock]) {
                    hold();
                }
                hold.release();
            }
            hold.left();
        }

        /** In the order of their numbers, so that no threads wait for each other. */
        private void takeWithNext(int lock) {
            Hold hold = want(lock);
            synchronized (locks[lock]) {
                hold.acquired();
                hold();
                take(lock + 1);
                hold.release();
            }
            hold.left();
        }

        private Hold want(int lock) {
            Hold hold = new Hold(locks[lock]);
            holds.add(hold);
            hold.want();
            return hold;
        }

        private void hold() {
            Held.nanos(1_000_000 + random.nextInt(3_000_000));
        }
    }

    /** Looks again and again which workers are blocked, until the last one has ended. */
    private final class Watcher extends Thread {
        private final List<String> sightings = new ArrayList<>();

        Watcher() {
            super("watcher");
        }

        @Override
        public void run() {
            while (look()) {
                LockSupport.parkNanos(WATCH_NANOS);
            }
        }

        private boolean look() {
            boolean anyAlive = false;
            StringBuilder blocked = new StringBuilder();
            long from = System.nanoTime();
            for (Worker worker : workers) {
                State state = worker.getState();
                anyAlive |= state != State.TERMINATED;
                if (state == State.BLOCKED) {
                    blocked.append(' ').append(worker.getName());
                }
            }
            long to = System.nanoTime();
            sightings.add("blocked " + from + " " + to + blocked);
            return anyAlive;
        }
    }
}
