package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/**
 * Many threads block each other on a few locks as often as they can, with
 * nothing in between. The owner of a lock yields the processor, so that
 * another thread runs into it.
 *
 * <p>Arguments: the number of threads, the number of locks, and how often the
 * threads shall be blocked, all together and at least.
 *
 * <p>Prints how often the threads {@code hammer-N} were blocked, at whatever lock,
 * by the JVM's own count: {@code blocked COUNT}.
 */
public final class LockHammer {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Anvil[] anvils;
    private final Hammer[] hammers;
    private final CountDownLatch finished;
    private volatile boolean enough;

    private LockHammer(String name, int hammers, int anvils) {
        this.anvils = new Anvil[anvils];
        for (int i = 0; i < anvils; i++) {
            this.anvils[i] = new Anvil();
        }
        this.hammers = new Hammer[hammers];
        for (int i = 0; i < hammers; i++) {
            this.hammers[i] = new Hammer(name, i);
        }
        this.finished = new CountDownLatch(hammers);
    }

    public static void main(String[] args) throws InterruptedException {
        // Hammers could wait for each other to initialize a class, or to resolve a
        // name in a constant pool. The less of that, the more is about the anvils.
        new LockHammer("warm-up", 1, 1).run(0);
        long blocked = new LockHammer("hammer", Integer.parseInt(args[0]), Integer.parseInt(args[1]))
                .run(Long.parseLong(args[2]));
        System.out.println("blocked " + blocked);
    }

    /** Returns how often the hammers were blocked. */
    private long run(long blocks) throws InterruptedException {
        for (Hammer hammer : hammers) {
            hammer.start();
        }
        while (countBlocked() < blocks) {
            Thread.sleep(10);
        }
        enough = true;
        finished.await();
        long blocked = countBlocked();

        long struck = 0;
        long striking = 0;
        for (Hammer hammer : hammers) {
            // One ends at a time, and nobody joins it: both could block it once more, too late to be counted.
            hammer.mayEnd.countDown();
            while (hammer.isAlive()) {
                Thread.sleep(1);
            }
            striking += hammer.strikes;
        }
        for (Anvil anvil : anvils) {
            struck += anvil.strikes;
        }
        if (struck != striking) {
            throw new AssertionError(struck + " of " + striking + " strikes: the locks do not exclude each other");
        }
        return blocked;
    }

    private long countBlocked() {
        long blocked = 0;
        for (Hammer hammer : hammers) {
            blocked += THREADS.getThreadInfo(hammer.getId()).getBlockedCount();
        }
        return blocked;
    }

    /** A lock and what it guards. */
    private static final class Anvil {
        private long strikes;

        synchronized void strike() {
            strikes++;
            Thread.yield();
        }
    }

    private final class Hammer extends Thread {
        private final int number;
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private long strikes;

        Hammer(String name, int number) {
            super(name + "-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            int next = number;
            do {
                anvils[next++ % anvils.length].strike();
                strikes++;
            } while (!enough);
            finished.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
