package bench.synthetic;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Pairs of threads, one of which hands numbers to the other through a {@link SynchronousQueue}. */
public final class Handoff implements Application {
    private static final int ITEMS = 200_000;

    private final int pairs;
    private final int itemsEach;
    private final AtomicLong sumTaken = new AtomicLong();

    public Handoff(Settings settings) {
        pairs = settings.pairs();
        itemsEach = Math.max(1, settings.work(ITEMS) / pairs);
    }

    @Override
    public void iterate() throws Exception {
        sumTaken.set(0);
        // For all pairs: each number goes to the thread that is there first.
        SynchronousQueue<Long> queue = new SynchronousQueue<>();
        Team.run("pair", 2 * pairs, member -> {
            if (member % 2 == 0) {
                give(queue, member / 2);
            } else {
                take(queue);
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        long items = (long) itemsEach * pairs;
        WrongResult.unlessEqual("sum of all items", items * (items - 1) / 2, sumTaken.get());
    }

    private void give(SynchronousQueue<Long> queue, int giver) throws InterruptedException {
        for (int i = 0; i < itemsEach; i++) {
            queue.put((long) giver * itemsEach + i);
        }
    }

    private void take(SynchronousQueue<Long> queue) throws InterruptedException {
        long sum = 0;
        for (int i = 0; i < itemsEach; i++) {
            sum += queue.take();
        }
        sumTaken.addAndGet(sum);
    }
}
