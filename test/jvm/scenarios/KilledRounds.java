package scenarios;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that contend, park and unpark until the JVM is killed, and say after each round
 * what they have done so far: a line {@code NAME ROUND BLOCKED PARKS UNPARKS}, where
 * {@code BLOCKED} is how often the JVM blocked the thread on a monitor.
 *
 * <p>A line is one system call, so it shows what was over before the JVM was killed.
 */
public final class KilledRounds {
    private static final int THREADS = 4;
    private static final int SHORT_HOLDS = 200;
    private static final int PARKING_ROUND = 4;
    private static final ThreadMXBean THREAD_BEAN = ManagementFactory.getThreadMXBean();
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

    private static final Object lock = new Object();
    private static final Thread[] threads = new Thread[THREADS];
    private static volatile boolean allRun;
    private static volatile int work;

    private KilledRounds() {}

    public static void main(String[] args) {
        // Initializes all classes: a thread that waits for another one to do so is notified,
        // which the JVM counts as blocked.
        Arrays.fill(threads, Thread.currentThread());
        round(Thread.currentThread(), PARKING_ROUND, 1, 1);
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(KilledRounds::run, "worker-" + i);
        }
        for (Thread thread : threads) {
            thread.start();
        }
        allRun = true;
    }

    private static void run() {
        while (!allRun) {
            // To unpark a thread that was not started is nothing.
            Thread.yield();
        }
        Thread self = Thread.currentThread();
        int parks = 0;
        for (int round = 1; ; round++) {
            if (round % PARKING_ROUND == 0) {
                parks++;
            }
            round(self, round, parks, round);
        }
    }

    /** Runs a round that makes this number of parks and unparks, with those of the rounds
     * before. */
    private static void round(Thread self, int round, int parks, int unparks) {
        // Again and again from the same code while others wait, which the tracer writes as
        // one event.
        for (int hold = 0; hold < SHORT_HOLDS; hold++) {
            synchronized (lock) {
                work += hold;
            }
        }
        if (round % PARKING_ROUND == 0) {
            LockSupport.parkNanos(lock, 20_000);
        }
        LockSupport.unpark(threads[(round + parks) % THREADS]);
        long blocked = THREAD_BEAN.getThreadInfo(self.getId()).getBlockedCount();
        say(self.getName() + " " + round + " " + blocked + " " + parks + " " + unparks + "\n");
    }

    private static void say(String line) {
        try {
            OUT.write(line.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException error) {
            throw new AssertionError(error);
        }
    }
}
