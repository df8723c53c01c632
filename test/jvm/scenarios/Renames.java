package scenarios;

import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker gets a new name for each of its jobs, by turns from the thread "main" and from itself, and before
 * each a hundred others that it does nothing under. It waits for one monitor in each job. Beside them a crowd is
 * renamed by three threads as fast as they can, each by one of them.
 *
 * <p>Arguments: jobs, threads of the crowd, and for how many milliseconds these are renamed. What is printed:
 * "job" with the number of the worker and each name that it waited under, in order; "last" with the number and
 * the last name of each thread; and "renames" with how many names were given in all.
 *
 * <p>The trace must show the worker's n-th wait on the lock of a {@code Renames} after its n-th name and before
 * the next one, the last name of each thread, and lack nothing.
 */
public final class Renames {
    private static final int NAMES_OF_NOTHING = 100;
    private static final int RENAMERS = 3;

    private final Semaphore jobs = new Semaphore(0);
    private int done;
    private static volatile boolean enough;
    private static int shared;

    private Renames() {}

    public static void main(String[] args) throws InterruptedException {
        int jobs = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        long millis = Long.parseLong(args[2]);
        Thread[] crowd = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            crowd[i] = new Thread(null, Renames::contendNowAndThen, "crowd-" + i, 256 << 10);
            crowd[i].start();
        }
        long[] renames = new long[RENAMERS];
        Thread[] renamers = new Thread[RENAMERS];
        long end = System.nanoTime() + millis * 1_000_000;
        for (int i = 0; i < RENAMERS; i++) {
            int renamer = i;
            renamers[i] = new Thread(() -> renames[renamer] = rename(crowd, renamer, end));
            renamers[i].start();
        }
        long names = new Renames().giveJobs(jobs);
        for (int i = 0; i < RENAMERS; i++) {
            renamers[i].join();
            names += renames[i];
        }
        enough = true;
        for (Thread thread : crowd) {
            // No other thread renames it any more.
            System.out.println("last " + thread.getId() + " " + thread.getName());
        }
        for (Thread thread : crowd) {
            thread.join();
        }
        System.out.println("renames " + names);
    }

    private long giveJobs(int count) throws InterruptedException {
        Thread worker = new Thread(() -> work(count), "worker");
        worker.start();
        long names = 0;
        for (int job = 0; job < count; job++) {
            awaitParked(worker);
            for (int i = 0; i < NAMES_OF_NOTHING; i++) {
                worker.setName("nothing-" + i);
            }
            String name = job % 2 == 0 ? "given-" + job : "taken-" + job;
            if (job % 2 == 0) {
                worker.setName(name);
            }
            System.out.println("job " + worker.getId() + " " + name);
            names += NAMES_OF_NOTHING + 1;
            block(worker);
        }
        worker.join();
        return names;
    }

    private synchronized void block(Thread worker) {
        jobs.release();
        new Held(worker).run();
    }

    private void work(int count) {
        for (int job = 0; job < count; job++) {
            jobs.acquireUninterruptibly();
            if (job % 2 != 0) {
                Thread.currentThread().setName("taken-" + job);
            }
            pass();
        }
    }

    private synchronized void pass() {
        done++;
    }

    private static void awaitParked(Thread worker) {
        while (worker.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(100_000);
        }
    }

    private static long rename(Thread[] crowd, int renamer, long end) {
        long names = 0;
        while (System.nanoTime() < end) {
            for (int i = renamer; i < crowd.length; i += RENAMERS) {
                crowd[i].setName("named-" + names++);
            }
        }
        return names;
    }

    private static void contendNowAndThen() {
        while (!enough) {
            synchronized (Renames.class) {
                shared++;
            }
            LockSupport.parkNanos(10_000_000);
        }
    }
}
