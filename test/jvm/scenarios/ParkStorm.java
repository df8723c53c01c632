package scenarios;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Six threads park on few objects, unpark and interrupt each other and themselves
 * at random, as fast as they can.
 *
 * <p>Prints for each, and for the main thread, {@code thread NAME ID PARKS UNPARKS
 * INTERRUPTS}: how often it did so. The trace must have as many events, and to the
 * permit of each unpark at most one end of a park of the thread unparked.
 */
public final class ParkStorm {
    private static final int RACERS = 6;
    private static final int BLOCKERS = 3;
    private static final int TURNS = 5_000;

    private final Racer[] racers = new Racer[RACERS];
    private final Object[] blockers = new Object[BLOCKERS];
    private final AtomicInteger started = new AtomicInteger();
    private volatile boolean mayEnd;

    private ParkStorm() {
        Arrays.setAll(racers, Racer::new);
        Arrays.setAll(blockers, i -> new Object());
    }

    public static void main(String[] args) throws InterruptedException {
        new ParkStorm().run();
    }

    private void run() throws InterruptedException {
        for (Racer racer : racers) {
            racer.start();
        }
        int unparks = 0;
        while (!Arrays.stream(racers).allMatch(racer -> racer.isDone)) {
            TimeUnit.MILLISECONDS.sleep(1);
            if (started.get() == RACERS) {
                // Some park for ever.
                for (Racer racer : racers) {
                    LockSupport.unpark(racer);
                    unparks++;
                }
            }
        }
        mayEnd = true;
        print(Thread.currentThread(), 0, unparks, 0);
        for (Racer racer : racers) {
            racer.join();
            print(racer, racer.parks, racer.unparks, racer.interrupts);
        }
    }

    private static void print(Thread thread, int parks, int unparks, int interrupts) {
        System.out.println("thread " + thread.getName() + " " + thread.getId() + " "
                + parks + " " + unparks + " " + interrupts);
    }

    private final class Racer extends Thread {
        private final Random random;
        private int parks;
        private int unparks;
        private int interrupts;
        private volatile boolean isDone;

        Racer(int number) {
            super("racer-" + number);
            this.random = new Random(number);
        }

        @Override
        public void run() {
            started.incrementAndGet();
            while (started.get() < RACERS) {
                Thread.yield(); // the JVM knows nothing of an unpark of a thread that has not started
            }
            for (int turn = 0; turn < TURNS; turn++) {
                if (random.nextBoolean()) {
                    parks++;
                    park();
                } else if (random.nextInt(4) > 0) {
                    unparks++;
                    LockSupport.unpark(racers[random.nextInt(RACERS)]);
                } else {
                    interrupts++;
                    racers[random.nextInt(RACERS)].interrupt();
                }
            }
            isDone = true;
            while (!mayEnd) {
                Thread.yield(); // the others still unpark and interrupt this thread
            }
        }

        private void park() {
            Object blocker = blockers[random.nextInt(BLOCKERS)];
            switch (random.nextInt(5)) {
                case 0:
                    LockSupport.park(blocker);
                    break;
                case 1:
                    LockSupport.parkUntil(blocker, System.currentTimeMillis() + 1);
                    break;
                case 2:
                    LockSupport.parkNanos(1 + random.nextInt(100_000));
                    break;
                default:
                    LockSupport.parkNanos(blocker, 1 + random.nextInt(100_000));
                    break;
            }
            if (random.nextBoolean()) {
                interrupted();
            }
        }
    }
}
