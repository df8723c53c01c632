package bench.synthetic;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;

/**
 * Threads that want the same lock again and again: each holds it for a time, and
 * thinks for a time in between.
 */
abstract class Hammer implements Application {
    private static final int HOLDS = 120_000;

    private final Settings settings;
    private final int holdsEach;
    /** The threads' numbers, so that no compiler leaves their work out. */
    private final long[] states;
    private long holds;

    Hammer(Settings settings) {
        this.settings = settings;
        holdsEach = Math.max(1, settings.work(HOLDS) / settings.threads());
        states = new long[settings.threads()];
    }

    @Override
    public final void iterate() throws Exception {
        holds = 0;
        Team.run("hammer", settings.threads(), member -> {
            long state = member;
            for (int i = 0; i < holdsEach; i++) {
                state = locked(state);
                state = Busy.steps(settings.thinkSteps(), state);
            }
            states[member] = state;
        });
    }

    @Override
    public final void check() throws WrongResult {
        WrongResult.unlessEqual("holds counted under the lock", (long) holdsEach * settings.threads(), holds);
        for (int member = 0; member < states.length; member++) {
            long steps = (long) holdsEach * (settings.holdSteps() + settings.thinkSteps());
            WrongResult.unlessEqual("state of thread " + member, Busy.state(steps, member), states[member]);
        }
    }

    /** Calls {@link #hold} with the lock held. */
    abstract long locked(long state);

    final long hold(long state) {
        // Counts wrong if two threads are here at once.
        long before = holds;
        long after = Busy.steps(settings.holdSteps(), state);
        holds = before + 1;
        return after;
    }
}
