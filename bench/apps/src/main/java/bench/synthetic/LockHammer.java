package bench.synthetic;

import bench.Settings;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that contend for one {@link ReentrantLock}. */
public final class LockHammer extends Hammer {
    private final ReentrantLock lock = new ReentrantLock();

    public LockHammer(Settings settings) {
        super(settings);
    }

    @Override
    long locked(long state) {
        lock.lock();
        try {
            return hold(state);
        } finally {
            lock.unlock();
        }
    }
}
