package scenarios;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * Starts tracing, blocks threads, and prints what the MBean says: all by JMX alone, without the classes
 * of the MBean. Waits for lines on standard input in between, and prints how long its threads
 * were blocked by their own clock.
 */
public final class Managed {
    private static final int THREADS = 4;
    private static final int TURNS = 100;
    private static final String[] NUMBERS = {
        "BlockedNanos", "FreeNanos", "UnknownOwnerNanos", "Waits", "LongestWaitNanos", "BlockedThreads",
        "Deadlocks", "LostEvents"
    };

    private final AtomicLong blockedNanos = new AtomicLong();

    private Managed() {}

    public static void main(String[] args) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("tools.locktrace:type=LockContention");
        print(server, name, "before");
        System.out.println("answer " + call(server, name, "start", args[0]));
        Managed managed = new Managed();
        managed.contend();
        System.out.println("blocked " + managed.blockedNanos);
        TimeUnit.MILLISECONDS.sleep(1_100); // the figures before are old then
        print(server, name, "traced");
        System.out.println("ready");
        System.in.read();
        System.out.println("refused " + call(server, name, "start", "kinds=gc"));
        System.out.println("answer " + server.invoke(name, "stop", null, null));
        print(server, name, "after");
    }

    private void contend() throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> {
                for (int turn = 0; turn < TURNS; turn++) {
                    hold(TimeUnit.MICROSECONDS.toNanos(700));
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void hold(long nanos) {
        long start = System.nanoTime();
        synchronized (this) {
            blockedNanos.addAndGet(System.nanoTime() - start);
            Held.nanos(nanos);
        }
    }

    /** Returns the JVM's answer, or the reason why it refuses. */
    private static String call(MBeanServer server, ObjectName name, String operation, String argument)
            throws Exception {
        try {
            Object[] arguments = {argument};
            String[] signature = {String.class.getName()};
            return (String) server.invoke(name, operation, arguments, signature);
        } catch (javax.management.RuntimeMBeanException e) {
            return e.getTargetException().getMessage();
        }
    }

    private static void print(MBeanServer server, ObjectName name, String when) throws Exception {
        System.out.println(when + " Tracing " + server.getAttribute(name, "Tracing"));
        System.out.println(when + " Analyzing " + server.getAttribute(name, "Analyzing"));
        for (Object attribute : server.getAttributes(name, NUMBERS)) {
            Attribute number = (Attribute) attribute;
            System.out.println(when + " " + number.getName() + " " + number.getValue());
        }
        TabularData rows = (TabularData) server.getAttribute(name, "TopContentions");
        for (Object row : rows.values()) {
            CompositeData contention = (CompositeData) ((CompositeData) row).get("value");
            System.out.println(when + " row " + word(contention.get("lockClass")) + " "
                    + word(contention.get("ownerMethod")) + " "
                    + contention.get("blockedNanos") + " " + contention.get("waits") + " "
                    + contention.get("longestWaitNanos"));
        }
    }

    /** A name without spaces: "Class of demo.Ledger" has some. */
    private static String word(Object name) {
        return ((String) name).replace(' ', '_');
    }
}
