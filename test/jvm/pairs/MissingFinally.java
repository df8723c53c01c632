package pairs;

import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Requests of which every fourth fails and leaves a lock behind, as its release is not in a
 * {@code finally}: what ends each request releases it later. Or it is.
 */
public final class MissingFinally extends Program {
    private final boolean hasFinally;
    private final ReentrantLock lock = new ReentrantLock();

    public MissingFinally(boolean isAfter) {
        super(10, 120);
        hasFinally = isAfter;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        try {
            if (hasFinally) {
                bookSafely(random, turn);
            } else {
                book(random, turn);
            }
        } catch (IllegalStateException e) {
            // The page says so.
        }
        Work.pause(random, 6_000);
        cleanUp();
    }

    private void book(Random random, int turn) {
        lock.lock();
        validate(random, turn);
        lock.unlock();
    }

    private void bookSafely(Random random, int turn) {
        lock.lock();
        try {
            validate(random, turn);
        } finally {
            lock.unlock();
        }
    }

    private static void validate(Random random, int turn) {
        Work.pause(random, 1_000);
        if (turn % 4 == 0) {
            throw new IllegalStateException("not valid");
        }
    }

    private void cleanUp() {
        if (lock.isHeldByCurrentThread()) {
            lock.unlock();
        }
    }
}
