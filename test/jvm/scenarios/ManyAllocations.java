package scenarios;

/**
 * Allocates objects of one class as fast as it goes: before one of them is a contended lock, while the JVM records
 * where they are allocated, and when it has given that up. Each object has what its constructor wrote.
 *
 * <p>Prints how many were allocated in each slice of time, {@code before COUNT} and {@code after COUNT}.
 */
public final class ManyAllocations {
    private static final int SLICES = 5;
    /** Others may need the processors. */
    private static final int MAX_SLICES_AFTER = 50;
    private static final double AS_BEFORE = 0.7;
    private static final long SLICE_NANOS = 100_000_000;
    private static final long CHANGE_NANOS = 60_000_000_000L;
    /** Several looks of the JVM at what was recorded: with each one, a class that is watched is recorded again. */
    private static final long GIVEN_UP_NANOS = 2_000_000_000L;
    private static final int AT_ONCE = 1_000;

    private static volatile Cheap sink;

    private ManyAllocations() {}

    private static final class Cheap {
        private final int number;
        private final long square;
        private int locked;

        Cheap(int number) {
            this.number = number;
            this.square = (long) number * number;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long before = 0;
        for (int slice = 0; slice < SLICES; slice++) {
            before = Math.max(before, printSlice("before"));
        }
        contend(new Cheap(0));
        allocateUntilRecorded();
        allocateUntilGivenUp();
        long after = 0;
        for (int slice = 0; slice < MAX_SLICES_AFTER && after < before * AS_BEFORE; slice++) {
            after = printSlice("after");
        }
    }

    private static long printSlice(String when) {
        long end = System.nanoTime() + SLICE_NANOS;
        long count = 0;
        while (System.nanoTime() < end) {
            allocate(AT_ONCE);
            count += AT_ONCE;
        }
        System.out.println(when + ' ' + count);
        return count;
    }

    private static void allocateUntilRecorded() {
        long end = System.nanoTime() + CHANGE_NANOS;
        do {
            allocate(1);
            check(System.nanoTime() < end, "allocations are not recorded");
        } while (!MarkWord.isHashed(sink));
    }

    /** Until no allocation has been recorded for a while: without credit, the JVM skips some of a class it watches. */
    private static void allocateUntilGivenUp() {
        long end = System.nanoTime() + CHANGE_NANOS;
        long recorded = System.nanoTime();
        long now = recorded;
        while (now - recorded < GIVEN_UP_NANOS) {
            allocate(1);
            now = System.nanoTime();
            if (MarkWord.isHashed(sink)) {
                recorded = now;
            }
            check(now < end, "allocations are recorded for too long");
        }
    }

    private static void allocate(int count) {
        for (int i = 0; i < count; i++) {
            sink = new Cheap(i);
            Cheap cheap = sink;
            check(cheap.number == i && cheap.square == (long) i * i && cheap.locked == 0,
                    "an object is not as it was constructed");
        }
    }

    private static void check(boolean is, String otherwise) {
        if (!is) {
            throw new AssertionError(otherwise);
        }
    }

    private static void contend(Cheap lock) throws InterruptedException {
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                lock.locked++;
            }
        }, "waiter");
        synchronized (lock) {
            waiter.start();
            while (waiter.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            Thread.sleep(10);
        }
        waiter.join();
    }
}
