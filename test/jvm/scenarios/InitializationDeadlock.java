package scenarios;

import java.util.concurrent.CountDownLatch;

/**
 * Static initializers that wait for each other for good, or for a monitor whose owner
 * needs the class. The JVM names no such deadlock: {@code findDeadlockedThreads()} does
 * not see it, and to a thread dump the threads are running.
 *
 * <p>Prints {@code blocked THREAD FOR OWNER}: what each thread waits for, a class or the
 * class of a monitor, and for whom, as follows from the code. Goes on for
 * {@value #BLOCKED_MILLIS} ms.
 */
public final class InitializationDeadlock {
    private static final long BLOCKED_MILLIS = 1_000;

    /** Each of the two threads counts it down when it holds what the other one wants. */
    private static final CountDownLatch held = new CountDownLatch(2);
    private static final Object monitor = new Wanted();

    private InitializationDeadlock() {}

    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "classes":
                start("first", First::touch);
                start("second", Second::touch);
                held.await();
                // Waits for the cycle, and is not part of it.
                start("onlooker", First::touch);
                System.out.println("blocked first " + name("Second") + " second");
                System.out.println("blocked second " + name("First") + " first");
                System.out.println("blocked onlooker " + name("First") + " first");
                break;
            case "monitor":
                start("initializer", NeedsMonitor::touch);
                start("owner", InitializationDeadlock::ownMonitor);
                System.out.println("blocked initializer " + name("Wanted") + " owner");
                System.out.println("blocked owner " + name("NeedsMonitor") + " initializer");
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        Thread.sleep(BLOCKED_MILLIS);
    }

    private static String name(String nested) {
        return "scenarios.InitializationDeadlock$" + nested;
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void awaitBoth() {
        held.countDown();
        try {
            held.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void ownMonitor() {
        synchronized (monitor) {
            awaitBoth();
            NeedsMonitor.touch();
        }
    }

    private static final class Wanted {}

    private static final class First {
        static {
            awaitBoth();
            Second.touch();
        }

        static void touch() {}
    }

    private static final class Second {
        static {
            awaitBoth();
            First.touch();
        }

        static void touch() {}
    }

    private static final class NeedsMonitor {
        static {
            awaitBoth();
            synchronized (monitor) {
                touch();
            }
        }

        static void touch() {}
    }
}
