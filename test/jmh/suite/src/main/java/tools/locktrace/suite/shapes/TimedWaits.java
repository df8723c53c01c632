package tools.locktrace.suite.shapes;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.locktrace.suite.truth.Turn;

/**
 * Threads wait with a timeout for what never comes. When it is over, they have
 * to enter the monitor again, which others hold meanwhile.
 */
@State(Scope.Benchmark)
public class TimedWaits {
    private static final long TIMEOUT_MILLIS = 3;
    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);

    private static final String PATH = new CallPath()
            .calledBy(TimedWaits.class, "holdTwice").calledBy(TimedWaits.class, "turn").toString();

    private final String key = Turn.lockKey(this);

    @Setup(Level.Trial)
    public void setUp() {
        WarmUp.of(i -> {
            Thread.currentThread().interrupt(); // the wait is over at once
            holdTwice(Turn.warmUp(), Turn.warmUp());
        });
    }

    @Benchmark
    public void turn(Worker worker) {
        int naps = Holds.GEOMETRIC.naps(worker.number);
        holdTwice(worker.log.note(Turn.of(naps, key, PATH)),
                worker.log.note(Turn.of(naps, key, CallPath.WAIT + PATH, PATH)));
    }

    private void holdTwice(Turn before, Turn after) {
        before.wants();
        synchronized (this) {
            before.run();
            try {
                wait(TIMEOUT_MILLIS);
            } catch (InterruptedException e) {
                // In the warm-up.
            }
            after.wantedAt(before.releasedNanos() + TIMEOUT_NANOS);
            after.run();
        }
    }
}
