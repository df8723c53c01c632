package bench.synthetic;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/** Pairs of threads that take turns: each parks until the other has unparked it. */
public final class ParkStorm implements Application {
    private static final int TURNS = 160_000;

    private final int pairs;
    private final int turnsEach;
    private final Table[] tables;

    public ParkStorm(Settings settings) {
        pairs = settings.pairs();
        turnsEach = Math.max(1, settings.work(TURNS) / (2 * pairs));
        tables = new Table[pairs];
    }

    @Override
    public void iterate() throws Exception {
        for (int i = 0; i < pairs; i++) {
            tables[i] = new Table();
        }
        Team.run("player", 2 * pairs, member -> tables[member / 2].play(member % 2, turnsEach));
    }

    @Override
    public void check() throws WrongResult {
        for (Table table : tables) {
            WrongResult.unlessEqual("turns at a table", 2L * turnsEach, table.turns);
        }
    }

    /** A table where two threads take turns. */
    private static final class Table {
        private final AtomicReferenceArray<Thread> players = new AtomicReferenceArray<>(2);
        /** The turn: the player of this number modulo 2 is next. */
        private volatile int turns;

        void play(int player, int turnsEach) throws InterruptedException {
            players.set(player, Thread.currentThread());
            for (int i = 0; i < turnsEach; i++) {
                int mine = 2 * i + player;
                while (turns != mine) {
                    LockSupport.park(this);
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                }
                turns = mine + 1;
                // Not there yet: then it will see that it is its turn.
                LockSupport.unpark(players.get(1 - player));
            }
        }
    }
}
