package scenarios;

import java.util.concurrent.locks.LockSupport;

/** Prints where the start of the trace lies on the clock of {@link System#nanoTime}. */
final class TraceClock {
    private static final int READINGS = 200;

    private TraceClock() {}

    /**
     * Parks without blocking some times and prints {@code clock BEFORE_NS AFTER_NS}
     * for each: the trace has the time of a park in between. No other thread may be
     * named "clock".
     */
    static void print() throws InterruptedException {
        Thread clock = new Thread(TraceClock::read, "clock");
        clock.start();
        clock.join();
    }

    private static void read() {
        long[] times = new long[2 * READINGS];
        for (int i = 0; i < times.length; i += 2) {
            LockSupport.unpark(Thread.currentThread());
            times[i] = System.nanoTime();
            LockSupport.park();
            times[i + 1] = System.nanoTime();
        }
        for (int i = 0; i < times.length; i += 2) {
            System.out.println("clock " + times[i] + " " + times[i + 1]);
        }
    }
}
