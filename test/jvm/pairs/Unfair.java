package pairs;

import java.util.Random;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Small computations under a fair lock; or under one that is not. */
public final class Unfair extends Program {
    private final Lock lock;

    public Unfair(boolean isAfter) {
        super(4, 20_000);
        lock = new ReentrantLock(!isAfter);
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.compute(random, 20);
        lock.lock();
        try {
            Work.compute(random, 20);
        } finally {
            lock.unlock();
        }
    }
}
