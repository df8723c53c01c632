package bench.synthetic;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Half of the threads put numbers into a small buffer, the others take them out.
 * There is next to nothing to do with a number: it is all waiting, being notified
 * and wanting the monitor again.
 */
public final class ProducerConsumer implements Application {
    private static final int ITEMS = 100_000;

    private final int pairs;
    private final int itemsEach;
    private final Buffer buffer = new Buffer();
    private final AtomicLong sumTaken = new AtomicLong();

    public ProducerConsumer(Settings settings) {
        pairs = settings.pairs();
        itemsEach = Math.max(1, settings.work(ITEMS) / pairs);
    }

    @Override
    public void iterate() throws Exception {
        sumTaken.set(0);
        Team.run("pair", 2 * pairs, member -> {
            if (member % 2 == 0) {
                produce(member / 2);
            } else {
                consume();
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        long items = (long) itemsEach * pairs;
        WrongResult.unlessEqual("sum of all items", items * (items - 1) / 2, sumTaken.get());
        WrongResult.unlessEqual("items left in the buffer", 0, buffer.size);
    }

    private void produce(int producer) throws InterruptedException {
        for (int i = 0; i < itemsEach; i++) {
            buffer.put((long) producer * itemsEach + i);
        }
    }

    private void consume() throws InterruptedException {
        long sum = 0;
        for (int i = 0; i < itemsEach; i++) {
            sum += buffer.take();
        }
        sumTaken.addAndGet(sum);
    }

    private static final class Buffer {
        private final long[] items = new long[4];
        private int size;

        synchronized void put(long item) throws InterruptedException {
            while (size == items.length) {
                wait();
            }
            items[size++] = item;
            notifyAll();
        }

        synchronized long take() throws InterruptedException {
            while (size == 0) {
                wait();
            }
            notifyAll();
            return items[--size];
        }
    }
}
