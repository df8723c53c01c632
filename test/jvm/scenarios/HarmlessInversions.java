package scenarios;

/**
 * Two locks are nested in both orders, and nothing can deadlock: by one and the same thread ({@code one}), or by two
 * threads that own a third lock meanwhile ({@code guarded}). Other threads take each of the two alone, so that the
 * nestings hold somebody up.
 */
public final class HarmlessInversions {
    private static final class First {
    }

    private static final class Second {
    }

    private static final class Guard {
    }

    private static final Object FIRST = new First();
    private static final Object SECOND = new Second();
    private static final Object GUARD = new Guard();

    private static volatile boolean areNested;

    private HarmlessInversions() {
    }

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]);
        Thread[] nesters = args[1].equals("one")
                ? new Thread[] {new Thread(() -> nestByTurns(rounds), "nester")}
                : new Thread[] {
                    new Thread(() -> nestGuarded(rounds, FIRST, SECOND), "first-outside"),
                    new Thread(() -> nestGuarded(rounds, SECOND, FIRST), "second-outside")};
        Thread[] takers = {
            new Thread(() -> take(FIRST), "taker-1"), new Thread(() -> take(SECOND), "taker-2"),
            new Thread(() -> take(FIRST), "taker-3"), new Thread(() -> take(SECOND), "taker-4")};
        for (Thread taker : takers) {
            taker.start();
        }
        for (Thread nester : nesters) {
            nester.start();
        }
        for (Thread nester : nesters) {
            nester.join();
        }
        areNested = true;
        for (Thread taker : takers) {
            taker.join();
        }
    }

    private static void nestByTurns(int rounds) {
        for (int round = 0; round < rounds; round++) {
            nest(FIRST, SECOND);
            nest(SECOND, FIRST);
        }
    }

    private static void nestGuarded(int rounds, Object outer, Object inner) {
        for (int round = 0; round < rounds; round++) {
            synchronized (GUARD) {
                nest(outer, inner);
            }
            // The other nester gets the guard.
            sleep();
        }
    }

    private static void nest(Object outer, Object inner) {
        synchronized (outer) {
            sleep();
            synchronized (inner) {
                sleep();
            }
        }
    }

    private static void take(Object lock) {
        while (!areNested) {
            synchronized (lock) {
                sleep();
            }
            // The nester gets the lock.
            sleep();
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
