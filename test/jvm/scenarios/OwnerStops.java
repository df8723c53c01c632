package scenarios;

import java.io.File;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * A thread owns a lock that another one waits for, and meanwhile is stopped by collections, waits for
 * a processor that other programs have, runs, and sleeps: one lock for each.
 *
 * <p>Prints for each what the program, the collectors and the system say of the time from when the
 * other thread was seen to wait.
 */
public final class OwnerStops {
    private static final int LIVE_OBJECTS = 2_000_000;
    private static final int COLLECTIONS = 3;
    private static final long STARVED_NANOS = 1_500_000_000L;
    private static final long ASLEEP_MILLIS = 400;
    private static final long BUSY_NANOS = 400_000_000L;

    private static final class Collected {
    }

    private static final class Starved {
    }

    private static final class Asleep {
    }

    private static final class Busy {
    }

    /** The work done while the lock is owned. */
    private interface Work {
        void run() throws Exception;
    }

    private static List<Object> live;

    private OwnerStops() {
    }

    public static void main(String[] args) throws Exception {
        live = new ArrayList<>();
        for (int i = 0; i < LIVE_OBJECTS; i++) {
            live.add(new int[4]);
        }
        own("collected", new Collected(), OwnerStops::collect);
        own("busy", new Busy(), () -> spin("busy", BUSY_NANOS, true));
        own("asleep", new Asleep(), () -> {
            long[] before = times();
            Thread.sleep(ASLEEP_MILLIS);
            say("asleep", before, times());
        });
        Thread starved = new Thread(OwnerStops::starve, "starved");
        starved.start();
        starved.join();
        System.out.println("live " + live.size());
    }

    /**
     * Does the work once the other thread waits. Prints what has passed from before it could wait until
     * after the release, too.
     */
    private static void own(String name, Object lock, Work work) throws Exception {
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                System.out.println("acquired");
            }
        }, "waiter");
        long[] before = times();
        synchronized (lock) {
            waiter.start();
            while (waiter.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            work.run();
        }
        waiter.join();
        say(name + "-around", before, times());
    }

    private static void collect() {
        long collectedMillis = collectionMillis();
        long begin = System.nanoTime();
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        long nanos = System.nanoTime() - begin;
        collectedMillis = collectionMillis() - collectedMillis;
        System.out.println("collected " + COLLECTIONS + " " + collectedMillis * 1_000_000 + " " + nanos);
    }

    private static long collectionMillis() {
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += collector.getCollectionTime();
        }
        return millis;
    }

    /** In a thread of its own, which stays on one processor, as the other programs do. */
    private static void starve() {
        List<Process> hogs = new ArrayList<>();
        try {
            String processor = firstProcessor();
            for (int i = 0; i < 3; i++) {
                hogs.add(start("taskset", "-c", processor, "sh", "-c", "while :; do :; done"));
            }
            if (start("taskset", "-p", "-c", processor, threadId()).waitFor() != 0) {
                throw new IllegalStateException("taskset");
            }
            own("starved", new Starved(), () -> spin("starved", STARVED_NANOS, false));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        } finally {
            for (Process hog : hogs) {
                hog.destroy();
            }
        }
    }

    /** Until so much time has passed, or so much of it on a processor. */
    private static void spin(String name, long nanos, boolean onProcessor) throws IOException {
        int which = onProcessor ? 1 : 0;
        long[] before = times();
        long[] after;
        do {
            Thread.yield();
            after = times();
        } while (after[which] - before[which] < nanos);
        say(name, before, after);
    }

    private static void say(String name, long[] before, long[] after) {
        System.out.println(name + " " + (after[0] - before[0]) + " " + (after[1] - before[1]) + " "
                + (after[2] - before[2]));
    }

    private static Process start(String... command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start();
    }

    private static String threadId() throws IOException {
        return new File("/proc/thread-self").getCanonicalFile().getName();
    }

    private static String firstProcessor() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/thread-self/status"), StandardCharsets.UTF_8)) {
            if (line.startsWith("Cpus_allowed_list:")) {
                return line.substring(line.indexOf(':') + 1).trim().split("[-,]")[0];
            }
        }
        throw new IllegalStateException("no processors");
    }

    /** Time, and what the system has counted: on a processor, and waiting for one; all in nanoseconds. */
    private static long[] times() throws IOException {
        String text = new String(Files.readAllBytes(Paths.get("/proc/thread-self/schedstat")), StandardCharsets.UTF_8);
        String[] words = text.trim().split(" ");
        return new long[] {System.nanoTime(), Long.parseLong(words[0]), Long.parseLong(words[1])};
    }
}
