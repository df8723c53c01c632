package scenarios;

/**
 * A thread contends deep in a recursion that then overflows the stack: the
 * error leaves frames below the one where the thread last contended, or is
 * caught before it gets there. Then it contends so near to the end of its stack
 * that the overflow comes in the midst of it.
 *
 * <p>Arguments: the number of rounds.
 *
 * <p>The trace must show what {@link Contender} says. The stacks are longer than the
 * call chains that are recorded.
 *
 * <p>Prints {@code overflows COUNT}.
 */
public final class Overflows {
    private static final long STACK_BYTES = 512 << 10;
    private static final int[] DEPTHS = {1, 2, 40, 300};

    private final Object crowded = new Object();
    private Contender contender;
    private int overflows;
    private int entered;

    private Overflows() {}

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]);
        Overflows overflows = new Overflows();
        Thread diver = new Thread(null, () -> overflows.run(rounds), "diver", STACK_BYTES);
        diver.start();
        diver.join();
        if (overflows.overflows != rounds * (DEPTHS.length * DEPTHS.length + 1)) {
            throw new AssertionError(overflows.overflows + " overflows");
        }
        System.out.println("overflows " + overflows.overflows);
    }

    private void run(int rounds) {
        contender = new Contender();
        Crowd crowd = new Crowd(crowded);
        for (int round = 0; round < rounds; round++) {
            for (int meeting : DEPTHS) {
                for (int catching : DEPTHS) {
                    int returned = descend(0, meeting, catching);
                    check(returned == 1, "returned " + returned);
                }
            }
            crowd.come();
            overflowInCrowd();
            crowd.go();
        }
        contender.print();
    }

    /** Returns how many of the frames from here on have caught an overflow. */
    private int descend(int depth, int meeting, int catching) {
        if (depth == meeting) {
            contender.meet();
        }
        if (depth != catching) {
            return descend(depth + 1, meeting, catching);
        }
        try {
            return descend(depth + 1, meeting, -1);
        } catch (StackOverflowError e) {
            overflows++;
            StackTraceElement[] trace = e.getStackTrace();
            check(trace.length == 1024, trace.length + " frames");
            // Methods that a check of the stack's end calls may be on top.
            for (int i = 8; i < trace.length; i++) {
                check(trace[i].getMethodName().equals("descend"), trace[i].toString());
            }
            contender.meet();
            return 1;
        }
    }

    private void overflowInCrowd() {
        try {
            contendForever();
        } catch (StackOverflowError e) {
            overflows++;
        }
        check(!Thread.holdsLock(crowded), "the lock is still held");
    }

    private void contendForever() {
        synchronized (crowded) {
            entered++;
        }
        contendForever();
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }
}
