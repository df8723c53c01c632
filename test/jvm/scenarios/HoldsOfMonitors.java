package scenarios;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Threads take one monitor again and again, hold it for a random time and pause for
 * another one, and note each hold. Other threads may keep the processors busy
 * meanwhile.
 *
 * <p>Arguments: threads, shortest and longest hold, longest pause (all in nanoseconds),
 * how long all of it lasts in milliseconds, threads that keep the processors busy.
 *
 * <p>Prints, besides what {@link TraceClock} does, {@code holds THREAD METHOD WANTED_NS
 * ACQUIRED_NS RELEASED_NS LEFT_NS ...} with many holds a line, by {@link System#nanoTime}:
 * read just before the thread asked for the monitor, just after it had it, just before it
 * gave it back, and just after that.
 */
public final class HoldsOfMonitors {
    private static final int HOLDS_PER_LINE = 250;
    private static final int TIMES = 4;
    /** From here on a thread sleeps instead of looking at the clock. */
    private static final long SLEEP_NANOS = 200_000;

    private static final Object lock = new Shared();

    private static long shortestHold;
    private static long longestHold;
    private static long longestPause;
    private static volatile long end;

    private HoldsOfMonitors() {}

    private static final class Shared {}

    public static void main(String[] args) throws InterruptedException {
        shortestHold = Long.parseLong(args[1]);
        longestHold = Long.parseLong(args[2]);
        longestPause = Long.parseLong(args[3]);
        TraceClock.print();
        end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[4]));
        for (int hog = 0; hog < Integer.parseInt(args[5]); hog++) {
            new Thread(() -> spendUntil(end), "hog-" + hog).start();
        }
        Worker[] workers = new Worker[Integer.parseInt(args[0])];
        Arrays.setAll(workers, Worker::new);
        for (Worker worker : workers) {
            worker.start();
        }
        for (Worker worker : workers) {
            worker.join();
            worker.first.print(worker.getName(), "first");
            worker.second.print(worker.getName(), "second");
        }
    }

    private static void spendUntil(long until) {
        while (System.nanoTime() < until) {}
    }

    private static void pause(long nanos) {
        if (nanos < SLEEP_NANOS) {
            spendUntil(System.nanoTime() + nanos);
            return;
        }
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Worker extends Thread {
        private final Log first = new Log();
        private final Log second = new Log();

        Worker(int number) {
            super("worker-" + number);
        }

        @Override
        public void run() {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            while (System.nanoTime() < end) {
                long nanos = random.nextLong(shortestHold, longestHold + 1);
                if (random.nextInt(4) > 0) {
                    first(nanos);
                } else {
                    second(nanos);
                }
                pause(random.nextLong(longestPause + 1));
            }
        }

        private void first(long nanos) {
            first.want();
            synchronized (lock) {
                first.hold(nanos);
            }
            first.leave();
        }

        private void second(long nanos) {
            second.want();
            synchronized (lock) {
                second.hold(nanos);
            }
            second.leave();
        }
    }

    /** Times of one thread, read by others after it has ended. */
    private static final class Log {
        private long[] times = new long[1 << 16];
        private int length;

        void want() {
            if (length == times.length) {
                times = Arrays.copyOf(times, 2 * length);
            }
            times[length] = System.nanoTime();
        }

        void hold(long nanos) {
            long acquired = System.nanoTime();
            times[length + 1] = acquired;
            long now;
            do {
                now = System.nanoTime();
            } while (now - acquired < nanos);
            times[length + 2] = now;
        }

        void leave() {
            times[length + 3] = System.nanoTime();
            length += TIMES;
        }

        void print(String thread, String method) {
            for (int from = 0; from < length; from += TIMES * HOLDS_PER_LINE) {
                StringBuilder line = new StringBuilder("holds " + thread + " " + method);
                for (int at = from; at < Math.min(from + TIMES * HOLDS_PER_LINE, length); at++) {
                    line.append(' ').append(times[at]);
                }
                System.out.println(line);
            }
        }
    }
}
