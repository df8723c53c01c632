package pairs;

import java.util.Random;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A catalog that nine of ten turns only read, under an exclusive lock; or under a read-write lock. */
public final class ReadWrite extends Program {
    private final Lock readLock;
    private final Lock writeLock;

    public ReadWrite(boolean isAfter) {
        super(8, 300);
        if (isAfter) {
            ReadWriteLock lock = new ReentrantReadWriteLock();
            readLock = lock.readLock();
            writeLock = lock.writeLock();
        } else {
            readLock = new ReentrantLock();
            writeLock = readLock;
        }
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 1_500);
        if (random.nextInt(10) == 0) {
            update(random);
        } else {
            find(random);
        }
    }

    private void find(Random random) {
        readLock.lock();
        try {
            Work.pause(random, 1_200);
        } finally {
            readLock.unlock();
        }
    }

    private void update(Random random) {
        writeLock.lock();
        try {
            Work.pause(random, 1_200);
        } finally {
            writeLock.unlock();
        }
    }
}
