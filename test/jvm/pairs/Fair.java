package pairs;

import java.util.Random;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that want the same lock again soon after they have released it; or a fair lock. */
public final class Fair extends Program {
    private final Lock lock;

    public Fair(boolean isAfter) {
        super(6, 1_000);
        lock = new ReentrantLock(isAfter);
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        lock.lock();
        try {
            Work.pause(random, 300);
        } finally {
            lock.unlock();
        }
        Work.compute(random, 20);
    }
}
