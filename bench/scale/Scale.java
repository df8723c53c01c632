import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Contends with as many threads, locks or call chains as it is asked for: {@code Scale KIND COUNT}.
 * Prints its figures, a name and a number a line.
 */
public final class Scale {
    private static final int CONTENDERS = 4;
    private static final int TURNS = 1_000_000;
    private static final int STACK_BYTES = 128 << 10;
    private static final int STACK_DEPTH = 24;
    private static final Object SHARED = new Object();
    private static volatile boolean enough;

    interface Body { void run() throws InterruptedException; }

    /** What a thread does in one of its turns, both counted from 0. */
    interface Work { void run(int thread, int turn) throws InterruptedException; }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        switch (arguments[0]) {
            case "parked-threads": contendBesideParked(count); break;
            case "ended-threads": startAndEnd(count); break;
            case "locks": contendForMany(count); break;
            case "chains": contendByMany(count); break;
            default: throw new IllegalArgumentException(arguments[0] + " is not a kind");
        }
        print("peak_kib", peakKib());
    }

    /** Threads contend while other threads, which have recorded events, are parked. */
    private static void contendBesideParked(int count) throws Exception {
        CountDownLatch ready = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            start(() -> {
                takeTurn(200);
                ready.countDown();
                while (!enough) LockSupport.park();
            });
        }
        ready.await();
        Thread.sleep(2_000);
        measure(CONTENDERS, TURNS / CONTENDERS, (thread, turn) -> takeTurn(500));
    }

    /** Threads start, contend and end, one after the other. Another one has the lock half of the time. */
    private static void startAndEnd(int count) throws Exception {
        Thread other = start(() -> {
            while (!enough) {
                takeTurn(50_000);
                LockSupport.parkNanos(1);
            }
        });
        measure(1, count, (thread, turn) -> start(() -> takeTurn(200)).join());
        enough = true;
        other.join();
    }

    /** Two threads contend once for each of many locks, which is garbage afterwards. */
    private static void contendForMany(int count) throws Exception {
        Meeting meeting = new Meeting();
        measure(2, count, (thread, turn) -> { if (thread == 0) meeting.own(turn); else meeting.contend(turn); });
    }

    /** Threads contend for one lock by many call chains. */
    private static void contendByMany(int count) throws Exception {
        measure(CONTENDERS, TURNS / CONTENDERS, (thread, turn) -> left((turn * CONTENDERS + thread) % count, STACK_DEPTH));
    }

    private static void left(int way, int below) {
        if (below == 0) takeTurn(500);
        else if ((way & 1) == 0) left(way >> 1, below - 1);
        else right(way >> 1, below - 1);
    }

    private static void right(int way, int below) {
        if (below == 0) takeTurn(500);
        else if ((way & 1) == 0) left(way >> 1, below - 1);
        else right(way >> 1, below - 1);
    }

    private static void takeTurn(long holdNs) {
        synchronized (SHARED) { spend(holdNs); }
    }

    private static void spend(long durationNs) {
        for (long end = System.nanoTime() + durationNs; System.nanoTime() < end; ) { }
    }

    /** Two threads that meet at a new lock in each turn: one has it when the other comes. */
    private static final class Meeting {
        private volatile Object lock;
        /** Without collections, the JVM keeps the monitor of each lock. */
        private volatile byte[] garbage;
        private volatile int owned = -1, coming = -1, left = -1;

        void own(int turn) {
            Object lock = new Object();
            this.lock = lock;
            garbage = new byte[4_096];
            synchronized (lock) {
                owned = turn;
                while (coming != turn) { Thread.yield(); }
                spend(1_000);
            }
            while (left != turn) { Thread.yield(); }
        }

        void contend(int turn) {
            while (owned != turn) { Thread.yield(); }
            coming = turn;
            synchronized (lock) { left = turn; }
        }
    }

    /** Runs the turns, and prints the means of one: elapsed, of the process, of the tracer's threads. */
    private static void measure(int threads, int turns, Work work) throws Exception {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long tracerNs = tracerThreadsNs(), processNs = system.getProcessCpuTime(), begin = System.nanoTime();
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int thread = i;
            workers[i] = start(() -> { for (int turn = 0; turn < turns; turn++) work.run(thread, turn); });
        }
        for (Thread worker : workers) worker.join();
        long all = (long) threads * turns;
        print("elapsed_ns", (System.nanoTime() - begin) / all);
        print("processor_ns", (system.getProcessCpuTime() - processNs) / all);
        print("tracer_ns", (tracerThreadsNs() - tracerNs) / all);
    }

    private static Thread start(Body body) {
        Thread thread = new Thread(null, () -> {
            try { body.run(); } catch (InterruptedException e) { throw new AssertionError(e); }
        }, "worker", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Processor time of the threads that the tracer has started. */
    private static long tracerThreadsNs() throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
            for (Path task : tasks) {
                try {
                    if (read(task.resolve("comm")).startsWith("locktrace-")) {
                        sum += Long.parseLong(read(task.resolve("schedstat")).split(" ")[0]);
                    }
                } catch (NoSuchFileException e) { /* it has ended */ }
            }
        }
        return sum;
    }

    private static long peakKib() throws IOException {
        for (String line : read(Paths.get("/proc/self/status")).split("\n")) {
            if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("\\D", ""));
        }
        throw new IOException("no VmHWM in /proc/self/status");
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private static void print(String name, long value) {
        System.out.println(name + " " + value);
    }
}
