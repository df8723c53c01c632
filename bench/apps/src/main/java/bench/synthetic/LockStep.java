package bench.synthetic;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;

/**
 * Threads that take tiny steps, after each of which they wait for all others, as
 * simulators of several processors do.
 */
public final class LockStep implements Application {
    private static final int ARRIVALS = 120_000;

    private final int threads;
    private final int steps;
    private final int[] positions;
    private int arrived;
    private int round;

    public LockStep(Settings settings) {
        threads = settings.threads();
        steps = Math.max(1, settings.work(ARRIVALS) / threads);
        positions = new int[threads];
    }

    @Override
    public void iterate() throws Exception {
        round = 0;
        Team.run("node", threads, member -> {
            for (int step = 1; step <= steps; step++) {
                positions[member] = step;
                awaitOthers();
                int neighbour = positions[(member + 1) % threads];
                // It may be a step ahead, but never behind.
                WrongResult.unless(neighbour >= step, "node " + member + " at " + step + " sees one at " + neighbour);
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        WrongResult.unlessEqual("rounds", steps, round);
    }

    private synchronized void awaitOthers() throws InterruptedException {
        int mine = round;
        arrived++;
        if (arrived == threads) {
            arrived = 0;
            round++;
            notifyAll();
        }
        while (round == mine) {
            wait();
        }
    }
}
