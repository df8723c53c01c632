package tools.locktrace.suite.shapes;

import java.util.function.IntFunction;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.locktrace.suite.truth.Turn;

/**
 * Producers and consumers with {@code wait} and {@code notifyAll}. A consumer
 * that finds nothing releases the monitor by waiting; the trace must blame what
 * it held until then on the method that acquired the monitor.
 *
 * <p>A thread that is woken by {@code notifyAll} cannot note when it began to
 * want the monitor again, so these waits are no part of the truth; those of
 * {@link TimedWaits} are.
 */
@State(Scope.Benchmark)
public class Mailbox {
    private static final int CAPACITY = 2;
    private static final int PRODUCER_NAPS = 4;
    private static final int CONSUMER_NAPS = 2;

    /** Long enough for a message to come. A thread without partners goes on after it. */
    private static final long TIMEOUT_MILLIS = 100;

    private static final String PUT = new CallPath()
            .calledBy(Mailbox.class, "put").calledBy(Mailbox.class, "producer").toString();
    private static final String TAKE = new CallPath()
            .calledBy(Mailbox.class, "take").calledBy(Mailbox.class, "consumer").toString();

    private int messages;

    private final String key = Turn.lockKey(this);

    @Setup(Level.Trial)
    public void setUp() {
        WarmUp.of(i -> {
            if (i % 10 == 0) {
                Thread.currentThread().interrupt(); // the wait for a message is over at once
            } else {
                put(naps -> Turn.warmUp());
            }
            take(naps -> Turn.warmUp());
        });
    }

    @Benchmark
    @Group("mailbox")
    public void producer(Worker worker) {
        put(naps -> worker.log.note(Turn.of(naps, key, PUT)));
    }

    @Benchmark
    @Group("mailbox")
    public void consumer(Worker worker) {
        take(naps -> worker.log.note(Turn.of(naps, key, TAKE)));
    }

    private void put(IntFunction<Turn> turns) {
        Turn turn = turns.apply(PRODUCER_NAPS);
        turn.wants();
        synchronized (this) {
            turn.acquired();
            turn.nap();
            if (messages == CAPACITY) {
                turn = awaitNotification(turn, turns);
            }
            messages = Math.min(messages + 1, CAPACITY);
            notifyAll();
            turn.releases();
        }
    }

    private void take(IntFunction<Turn> turns) {
        Turn turn = turns.apply(CONSUMER_NAPS);
        turn.wants();
        synchronized (this) {
            turn.acquired();
            turn.nap();
            if (messages == 0) {
                turn = awaitNotification(turn, turns);
            }
            messages = Math.max(messages - 1, 0);
            notifyAll();
            turn.releases();
        }
    }

    /** Ends a turn and begins the next, with the monitor released in between. */
    private Turn awaitNotification(Turn turn, IntFunction<Turn> turns) {
        turn.releases();
        try {
            wait(TIMEOUT_MILLIS);
        } catch (InterruptedException e) {
            // In the warm-up.
        }
        Turn next = turns.apply(0);
        next.wants();
        next.acquired();
        return next;
    }
}
