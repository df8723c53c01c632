package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/**
 * Many threads block each other on a few locks as often as they can, with
 * nothing in between.
 *
 * <p>Arguments: threads, locks, turns of each thread. A turn yields the
 * processor while it holds a lock, so that another thread runs into it.
 *
 * <p>Prints how often the threads were blocked by the JVM's own count:
 * {@code blocked COUNT}.
 */
public final class LockHammer {
    private LockHammer() {}

    public static void main(String[] args) throws InterruptedException {
        Anvil[] anvils = new Anvil[Integer.parseInt(args[1])];
        for (int i = 0; i < anvils.length; i++) {
            anvils[i] = new Anvil();
        }
        int turns = Integer.parseInt(args[2]);
        Hammer[] hammers = new Hammer[Integer.parseInt(args[0])];
        CountDownLatch finished = new CountDownLatch(hammers.length);
        for (int i = 0; i < hammers.length; i++) {
            hammers[i] = new Hammer(i, anvils, turns, finished);
            hammers[i].start();
        }
        finished.await();

        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long blocked = 0;
        for (Hammer hammer : hammers) {
            blocked += threads.getThreadInfo(hammer.getId()).getBlockedCount();
        }
        for (Hammer hammer : hammers) {
            hammer.mayEnd.countDown();
        }
        for (Hammer hammer : hammers) {
            hammer.join();
        }
        System.out.println("blocked " + blocked);

        long strikes = 0;
        for (Anvil anvil : anvils) {
            strikes += anvil.strikes;
        }
        if (strikes != (long) hammers.length * turns) {
            throw new AssertionError(strikes + " strikes: the locks do not exclude each other");
        }
    }

    /** A lock and what it guards. */
    private static final class Anvil {
        private long strikes;

        synchronized void strike() {
            strikes++;
            Thread.yield();
        }
    }

    private static final class Hammer extends Thread {
        private final Anvil[] anvils;
        private final int turns;
        private final CountDownLatch finished;
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private int next;

        Hammer(int number, Anvil[] anvils, int turns, CountDownLatch finished) {
            super("hammer-" + number);
            this.next = number % anvils.length;
            this.anvils = anvils;
            this.turns = turns;
            this.finished = finished;
        }

        @Override
        public void run() {
            for (int turn = 0; turn < turns; turn++) {
                anvils[next].strike();
                next = (next + 1) % anvils.length;
            }
            finished.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
