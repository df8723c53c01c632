package scenarios;

/**
 * Threads nest two locks in one order and, later, in the other one, so that nothing deadlocks; and
 * two locks always in the same order. Each time somebody waits for both.
 *
 * <p>With {@code first} or {@code second} after the number of rounds, that one of the two is always the outer one.
 *
 * <p>Prints between which two times each thread began to wait for the inner lock.
 */
public final class Inversions {
    private static final class First {
    }

    private static final class Second {
    }

    private static final class Third {
    }

    private static volatile long aboutToWait;
    private static int used;

    private Inversions() {
    }

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]);
        String outer = args.length > 1 ? args[1] : "both";
        Object first = new First();
        Object second = new Second();
        Object third = new Third();
        for (int round = 0; round < rounds; round++) {
            if (!outer.equals("second")) {
                nest(first, second);
            }
            Thread.sleep(3 + round);
            if (!outer.equals("first")) {
                nest(second, first);
            }
            Thread.sleep(20);
        }
        for (int round = 0; round < 2 * rounds; round++) {
            nest(first, third);
        }
        System.out.println("used " + used);
    }

    private static void nest(Object outer, Object inner) throws InterruptedException {
        ObservedThread nester = new ObservedThread(() -> own(outer, inner), "nester");
        ObservedThread waiter = new ObservedThread(() -> use(outer), "waiter");
        synchronized (inner) {
            nester.start();
            awaitBlocked(nester);
            System.out.println("began " + outer.getClass().getName() + " " + inner.getClass().getName() + " "
                    + aboutToWait + " " + System.nanoTime());
            waiter.start();
            awaitBlocked(waiter);
            Thread.sleep(1);
        }
        nester.join();
        waiter.join();
    }

    private static void own(Object outer, Object inner) {
        synchronized (outer) {
            aboutToWait = System.nanoTime();
            use(inner);
        }
    }

    private static void use(Object lock) {
        synchronized (lock) {
            used++;
        }
    }

    private static void awaitBlocked(ObservedThread thread) throws InterruptedException {
        while (!thread.isAsleep(Thread.State.BLOCKED)) {
            Thread.sleep(1);
        }
    }
}
