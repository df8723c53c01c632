package scenarios;

/**
 * Runs one {@link Scenario}: warms it up until its methods are compiled, then
 * lets a thread "owner" block a thread "waiter" for some rounds.
 *
 * <p>Prints for every round when the waiter began to want the lock and when it
 * had it, on the clock of {@link System#nanoTime}:
 * {@code wait ROUND WANTED_NS RETURNED_NS}.
 */
public final class Contend {
    private static final int ROUNDS = 5;

    private Contend() {}

    public static void main(String[] args) throws Exception {
        Scenario scenario = (Scenario) Class.forName("scenarios." + args[0]).newInstance();
        for (int i = 0; i < scenario.warmUp(); i++) {
            scenario.own(Held.NOT_AT_ALL);
            scenario.want();
        }
        for (int round = 0; round < ROUNDS; round++) {
            Waiter waiter = block(scenario);
            System.out.println("wait " + round + " " + waiter.wanted + " " + waiter.returned);
        }
    }

    /** Lets a thread "owner" block a thread "waiter" once, for {@link Held#BLOCKED_NANOS} and a little. */
    static Waiter block(Scenario scenario) throws InterruptedException {
        Waiter waiter = new Waiter(scenario);
        Held held = new Held(waiter, scenario::onBlocked);
        Owner owner = new Owner(scenario, held);
        owner.start();
        held.awaitEntered();
        waiter.start();
        waiter.join();
        owner.join();
        return waiter;
    }

    private static final class Owner extends Thread {
        private final Scenario scenario;
        private final Held held;

        Owner(Scenario scenario, Held held) {
            super("owner");
            this.scenario = scenario;
            this.held = held;
        }

        @Override
        public void run() {
            try {
                scenario.own(held); // @own
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    static final class Waiter extends Thread {
        private final Scenario scenario;
        private long wanted;
        private long returned;

        Waiter(Scenario scenario) {
            super("waiter");
            this.scenario = scenario;
        }

        @Override
        public void run() {
            wanted = System.nanoTime();
            try {
                scenario.want(); // @want
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            returned = System.nanoTime();
        }
    }
}
