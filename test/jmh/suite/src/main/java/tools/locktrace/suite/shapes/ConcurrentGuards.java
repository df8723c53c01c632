package tools.locktrace.suite.shapes;

import java.util.concurrent.locks.ReentrantLock;
import tools.locktrace.suite.truth.Demand;
import tools.locktrace.suite.truth.Turn;

/** Locks of {@code java.util.concurrent} that do not tell readers from writers. */
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
                lock.unlock();
            }
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
                semaphore.release();
            }
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
