package scenarios;

/**
 * Owner and waiter stand deep in a recursion.
 *
 * <p>Argument: its depth.
 *
 * <p>The trace must show five waits of "waiter" blocked by "owner". The call
 * chain of each thread has a frame of {@link #own} or {@link #want}, a
 * {@link #descend} for each level of the recursion, and the thread's run method.
 */
public final class DeepStack {
    private static final int ROUNDS = 5;
    private static final int WARM_UP = 500;

    private int acquired;

    private DeepStack() {}

    public static void main(String[] args) throws InterruptedException {
        int depth = Integer.parseInt(args[0]);
        DeepStack stack = new DeepStack();
        for (int i = 0; i < WARM_UP; i++) {
            stack.descend(depth, Held.NOT_AT_ALL);
            stack.descend(depth, null);
        }
        for (int round = 0; round < ROUNDS; round++) {
            Diver waiter = new Diver("waiter", stack, depth, null);
            Held held = new Held(waiter);
            Diver owner = new Diver("owner", stack, depth, held);
            owner.start();
            held.awaitEntered();
            waiter.start();
            waiter.join();
            owner.join();
        }
    }

    /** Owns the lock on the ground for {@code held}, or wants it if that is null. */
    void descend(int depth, Held held) {
        if (depth > 1) {
            descend(depth - 1, held); // @deeper
        } else if (held == null) {
            want(); // @want
        } else {
            own(held); // @own
        }
    }

    private synchronized void own(Held held) {
        held.run(); // @enter
    } // @leave

    private synchronized void want() {
        acquired++; // @wanted
    }

    private static final class Diver extends Thread {
        private final DeepStack stack;
        private final int depth;
        private final Held held;

        Diver(String name, DeepStack stack, int depth, Held held) {
            super(name);
            this.stack = stack;
            this.depth = depth;
            this.held = held;
        }

        @Override
        public void run() {
            stack.descend(depth, held); // @dive
        }
    }
}
