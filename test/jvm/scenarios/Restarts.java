package scenarios;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Starts and stops a trace again and again, through the diagnostic commands that JMX
 * offers, while other threads contend for monitors and locks, wait and notify.
 *
 * <p>Arguments: how often, and how many threads contend meanwhile. The trace of round N
 * goes to {@code round-N.lct}. In it the thread {@code owner-N} keeps {@code waiter-N}
 * from an {@link Order} for at least {@link #HOLD_NANOS}. A thread {@code outlasting} is
 * blocked over the first start and the first stop.
 *
 * <p>Prints what the commands answered, and {@code resident KILOBYTES} after a tenth of
 * the rounds and at the end. Fails if the locks do not exclude each other.
 */
public final class Restarts {
    static final long HOLD_NANOS = 5_000_000;

    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private static volatile boolean enough;

    public static void main(String[] args) throws Exception {
        // The JVM may trace since its start.
        System.out.println(command("lockcontentionStop"));
        int rounds = Integer.parseInt(args[0]);
        Load[] loads = new Load[Integer.parseInt(args[1])];
        Counted counted = new Counted();
        for (int i = 0; i < loads.length; i++) {
            loads[i] = new Load(counted, i);
            loads[i].start();
        }

        Order outlasted = new Order();
        Thread outlasting = new Thread("outlasting") {
            @Override
            public void run() {
                outlasted.want();
            }
        };
        synchronized (outlasted) {
            outlasting.start();
            awaitBlocked(outlasting);
            round(0);
        }
        outlasting.join();

        for (int round = 1; round < rounds; round++) {
            round(round);
            if (round == rounds / 10) {
                System.out.println("resident " + residentKilobytes());
            }
        }
        System.out.println("resident " + residentKilobytes());

        enough = true;
        long expected = 0;
        for (Load load : loads) {
            load.join();
            expected += load.turns;
        }
        if (counted.byMonitor != expected || counted.byLock != expected) {
            throw new AssertionError(counted.byMonitor + ", " + counted.byLock + " of " + expected);
        }
        System.out.println("done");
    }

    private static void round(int round) throws Exception {
        System.out.println(command("lockcontentionStart", "file=round-" + round + ".lct"));
        Order order = new Order();
        Thread waiter = new Thread("waiter-" + round) {
            @Override
            public void run() {
                order.want();
            }
        };
        Thread owner = new Thread("owner-" + round) {
            @Override
            public void run() {
                order.own(waiter);
            }
        };
        owner.start();
        owner.join();
        waiter.join();
        System.out.println(command("lockcontentionStop"));
    }

    private static String command(String operation, String... arguments) throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        if (operation.endsWith("Stop")) {
            return ((String) SERVER.invoke(commands, operation, new Object[0], new String[0])).trim();
        }
        String[] signature = {String[].class.getName()};
        return ((String) SERVER.invoke(commands, operation, new Object[] {arguments}, signature)).trim();
    }

    static void awaitBlocked(Thread thread) {
        while (thread.getState() != Thread.State.BLOCKED) {
            LockSupport.parkNanos(100_000);
        }
    }

    private static long residentKilobytes() throws IOException {
        try (BufferedReader status = new BufferedReader(new FileReader("/proc/self/status"))) {
            for (String line = status.readLine(); line != null; line = status.readLine()) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", ""));
                }
            }
        }
        throw new IOException("no VmRSS");
    }

    /** The object that one thread has and another one wants. */
    static final class Order {
        synchronized void own(Thread waiter) {
            waiter.start();
            awaitBlocked(waiter);
            Held.nanos(HOLD_NANOS);
        }

        synchronized void want() {}
    }

    /** The object that all the others contend for. */
    static final class Counted {
        final ReentrantLock lock = new ReentrantLock();
        long byMonitor;
        long byLock;

        synchronized void countByMonitor() throws InterruptedException {
            byMonitor++;
            if (byMonitor % 16 == 0) {
                wait(1);
            } else if (byMonitor % 8 == 0) {
                notifyAll();
            }
        }

        void countByLock() {
            lock.lock();
            try {
                byLock++;
                Thread.yield();
            } finally {
                lock.unlock();
            }
        }
    }

    static final class Load extends Thread {
        private final Counted counted;
        long turns;

        Load(Counted counted, int number) {
            super("load-" + number);
            this.counted = counted;
        }

        @Override
        public void run() {
            try {
                while (!enough) {
                    counted.countByMonitor();
                    counted.countByLock();
                    turns++;
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
