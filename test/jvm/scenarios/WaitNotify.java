package scenarios;

/**
 * A thread "consumer" locks a {@link Mailbox}, blocks a thread "producer" with
 * that, and then waits for the message that the producer brings.
 *
 * <p>The trace must show two things in every round:
 *
 * <ul>
 *   <li>The producer was blocked by {@link Mailbox#take}, the method that held
 *       the lock, although it was {@code wait} that released it.
 *   <li>The consumer was blocked when it returned from {@code wait}. With the
 *       argument {@code timeout} the wait ends while the producer still holds
 *       the lock in {@link Mailbox#put}. With the argument {@code notified} the
 *       producer notifies, and takes the lock again in
 *       {@link Mailbox#inspect} before the consumer is awake. The latter is a
 *       race that the producer wins nearly always, not every time.
 * </ul>
 *
 * <p>Prints for every round when the producer held the lock for the last time:
 * {@code held ROUND ENTERED_NS LEFT_NS}; the times lie just outside the lock.
 */
public final class WaitNotify {
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 10;
    private static final long TIMEOUT_MILLIS = 10;
    private static final long HOLD_NANOS = 50_000_000;
    /** A consumer that has not fallen asleep yet would be awake at once. */
    private static final long FALL_ASLEEP_NANOS = 5_000_000;

    private WaitNotify() {}

    public static void main(String[] args) throws InterruptedException {
        boolean timeout = args[0].equals("timeout");
        Mailbox mailbox = new Mailbox();
        for (int i = 0; i < WARM_UP; i++) {
            if (i % 10 == 0) {
                Thread.currentThread().interrupt(); // so that the compilers see a wait
            } else {
                mailbox.put("warm-up", 0);
            }
            mailbox.inspect(0);
            mailbox.take(Held.NOT_AT_ALL, TIMEOUT_MILLIS);
        }
        for (int round = 0; round < ROUNDS; round++) {
            Producer producer = timeout ? new SlowProducer(mailbox) : new GreedyProducer(mailbox);
            Held held = new Held(producer);
            Consumer consumer = new Consumer(mailbox, held, timeout ? TIMEOUT_MILLIS : 0);
            consumer.start();
            held.awaitEntered();
            producer.start();
            producer.join();
            consumer.join();
            System.out.println("held " + round + " " + producer.entered + " " + producer.left);
        }
    }

    private static final class Consumer extends Thread {
        private final Mailbox mailbox;
        private final Held held;
        private final long timeoutMillis;

        Consumer(Mailbox mailbox, Held held, long timeoutMillis) {
            super("consumer");
            this.mailbox = mailbox;
            this.held = held;
            this.timeoutMillis = timeoutMillis;
        }

        @Override
        public void run() {
            mailbox.take(held, timeoutMillis); // @take
        }
    }

    private abstract static class Producer extends Thread {
        final Mailbox mailbox;
        long entered;
        long left;

        Producer(Mailbox mailbox) {
            super("producer");
            this.mailbox = mailbox;
        }
    }

    private static final class SlowProducer extends Producer {
        SlowProducer(Mailbox mailbox) {
            super(mailbox);
        }

        @Override
        public void run() {
            entered = System.nanoTime();
            mailbox.put("message", HOLD_NANOS); // @slowly
            left = System.nanoTime();
        }
    }

    private static final class GreedyProducer extends Producer {
        GreedyProducer(Mailbox mailbox) {
            super(mailbox);
        }

        @Override
        public void run() {
            mailbox.put("message", FALL_ASLEEP_NANOS); // @brief
            entered = System.nanoTime();
            mailbox.inspect(HOLD_NANOS); // @greedy
            left = System.nanoTime();
        }
    }
}
