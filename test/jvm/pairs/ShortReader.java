package pairs;

import java.util.Random;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A reader that is slow, behind which a writer queues, and behind that the other readers; or one that is not slow. */
public final class ShortReader extends Program {
    private static final int EXPORTER = 0;
    private static final int WRITER = 1;

    private final int exportMicros;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();

    public ShortReader(boolean isAfter) {
        super(8, 400);
        exportMicros = isAfter ? 4_000 : 40_000;
    }

    @Override
    protected int turns(int thread) {
        switch (thread) {
            case EXPORTER:
                return 40;
            case WRITER:
                return 100;
            default:
                return super.turns(thread);
        }
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        switch (thread) {
            case EXPORTER:
                Work.pause(random, 20_000);
                export(random);
                break;
            case WRITER:
                Work.pause(random, 5_000);
                refresh(random);
                break;
            default:
                Work.pause(random, 2_000);
                lookUp(random);
        }
    }

    private void export(Random random) {
        lock.readLock().lock();
        try {
            Work.pause(random, exportMicros);
        } finally {
            lock.readLock().unlock();
        }
    }

    private void refresh(Random random) {
        lock.writeLock().lock();
        try {
            Work.pause(random, 1_000);
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void lookUp(Random random) {
        lock.readLock().lock();
        try {
            Work.pause(random, 500);
        } finally {
            lock.readLock().unlock();
        }
    }
}
