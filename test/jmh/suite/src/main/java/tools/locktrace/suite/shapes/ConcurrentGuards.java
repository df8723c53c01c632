package tools.locktrace.suite.shapes;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import tools.locktrace.suite.truth.Demand;
import tools.locktrace.suite.truth.Turn;

/**
 * Locks of {@code java.util.concurrent} that do not distinguish readers from writers.
 * They are released in a method of its own, so that a trace shows whether its
 * owners' call chains are those of the release.
 */
final class ConcurrentGuards {
    private ConcurrentGuards() {}

    /** A lock that is fair or not. */
    static final class Reentrant extends Guard {
        private final ReentrantLock lock;

        Reentrant(boolean fair) {
            lock = new ReentrantLock(fair);
        }

        @Override
        void locked(Turn turn) {
            lock.lock();
            try {
                turn.run();
            } finally {
                release();
            }
        }

        private void release() {
            lock.unlock();
        }

        @Override
        List<String> releasingMethods() {
            return Arrays.asList("release", "locked");
        }

        @Override
        Object lock() {
            return Synchronizers.of(lock);
        }
    }

    /** One of the permits of a semaphore. */
    static final class Semaphore extends Guard {
        private final java.util.concurrent.Semaphore semaphore;
        private final Demand demand;

        Semaphore(int permits) {
            semaphore = new java.util.concurrent.Semaphore(permits);
            demand = Demand.permitOf(permits);
        }

        @Override
        void locked(Turn turn) {
            semaphore.acquireUninterruptibly();
            try {
                turn.run();
            } finally {
                release();
            }
        }

        private void release() {
            semaphore.release();
        }

        @Override
        List<String> releasingMethods() {
            return Arrays.asList("release", "locked");
        }

        @Override
        Object lock() {
            return Synchronizers.of(semaphore);
        }

        @Override
        Demand demand() {
            return demand;
        }
    }
}
