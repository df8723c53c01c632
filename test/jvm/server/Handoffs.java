package server;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/**
 * Pairs of threads that pass an item to and fro, and park in between: a storm of
 * parks, of which none is contention.
 *
 * <p>Arguments: {@code linked}, {@code synchronous} or {@code executor}; how many
 * pairs; for how many milliseconds. Prints how many times an item was passed on
 * per second, and what processor time each took, after as long a time to warm up.
 */
public final class Handoffs {
    private static final OperatingSystemMXBean CPU_CLOCK =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private Handoffs() {}

    /** Passes an item to another thread and back. */
    private interface RoundTrip {
        void make() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        int pairs = Integer.parseInt(args[1]);
        long millis = Long.parseLong(args[2]);
        Runner[] runners = new Runner[pairs];
        for (int i = 0; i < pairs; i++) {
            runners[i] = new Runner(roundTrip(args[0]));
            runners[i].start();
        }
        TimeUnit.MILLISECONDS.sleep(millis);
        long cpuNanos = -CPU_CLOCK.getProcessCpuTime();
        long nanos = -System.nanoTime();
        long handoffs = -handoffs(runners);
        TimeUnit.MILLISECONDS.sleep(millis);
        cpuNanos += CPU_CLOCK.getProcessCpuTime();
        nanos += System.nanoTime();
        handoffs += handoffs(runners);
        System.out.printf("%.0f handoffs per second, %d ns of processor time each%n",
                handoffs * 1e9 / nanos, cpuNanos / handoffs);
        System.exit(0);
    }

    private static long handoffs(Runner[] runners) {
        long handoffs = 0;
        for (Runner runner : runners) {
            handoffs += 2 * runner.trips;
        }
        return handoffs;
    }

    private static RoundTrip roundTrip(String kind) {
        switch (kind) {
            case "linked":
                return echo(new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>());
            case "synchronous":
                return echo(new SynchronousQueue<>(), new SynchronousQueue<>());
            case "executor":
                ExecutorService executor = Executors.newSingleThreadExecutor();
                return () -> executor.submit(() -> null).get();
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    /** Another thread passes back what it gets. */
    private static RoundTrip echo(BlockingQueue<Object> there, BlockingQueue<Object> back) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    back.put(there.take());
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        thread.start();
        return () -> {
            there.put(thread);
            back.take();
        };
    }

    private static final class Runner extends Thread {
        private final RoundTrip roundTrip;
        volatile long trips;

        Runner(RoundTrip roundTrip) {
            this.roundTrip = roundTrip;
        }

        @Override
        public void run() {
            try {
                while (true) {
                    roundTrip.make();
                    trips++;
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
