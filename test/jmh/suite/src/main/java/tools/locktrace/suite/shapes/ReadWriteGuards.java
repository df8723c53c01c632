package tools.locktrace.suite.shapes;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import tools.locktrace.suite.truth.Demand;
import tools.locktrace.suite.truth.Turn;

/**
 * The two ways to hold a lock that many may read, and one may write. As in
 * {@link ConcurrentGuards}, it is released in a method of its own.
 */
final class ReadWriteGuards {
    final Guard reader;
    final Guard writer;

    private ReadWriteGuards(Guard reader, Guard writer) {
        this.reader = reader;
        this.writer = writer;
    }

    /** A lock that is fair or not. */
    static ReadWriteGuards reentrant(boolean fair) {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock(fair);
        return new ReadWriteGuards(new Reader(lock), new Writer(lock));
    }

    /** A lock that is held with a stamp. */
    static ReadWriteGuards stamped() {
        StampedLock lock = new StampedLock();
        return new ReadWriteGuards(new StampedReader(lock), new StampedWriter(lock));
    }

    private static final class Reader extends Guard {
        private final ReentrantReadWriteLock lock;

        Reader(ReentrantReadWriteLock lock) {
            this.lock = lock;
        }

        @Override
        void locked(Turn turn) {
            lock.readLock().lock();
            try {
                turn.run();
            } finally {
                release();
            }
        }

        private void release() {
            lock.readLock().unlock();
        }

        @Override
        List<String> releasingMethods() {
            return Arrays.asList("release", "locked");
        }

        @Override
        Object lock() {
            return Synchronizers.of(lock);
        }

        @Override
        Demand demand() {
            return Demand.READ;
        }
    }

    private static final class Writer extends Guard {
        private final ReentrantReadWriteLock lock;

        Writer(ReentrantReadWriteLock lock) {
            this.lock = lock;
        }

        @Override
        void locked(Turn turn) {
            lock.writeLock().lock();
            try {
                turn.run();
            } finally {
                release();
            }
        }

        private void release() {
            lock.writeLock().unlock();
        }

        @Override
        List<String> releasingMethods() {
            return Arrays.asList("release", "locked");
        }

        @Override
        Object lock() {
            return Synchronizers.of(lock);
        }

        @Override
        Demand demand() {
            return Demand.WRITE;
        }
    }

    private static final class StampedReader extends Guard {
        private final StampedLock lock;

        StampedReader(StampedLock lock) {
            this.lock = lock;
        }

        @Override
        void locked(Turn turn) {
            long stamp = lock.readLock();
            try {
                turn.run();
            } finally {
                release(stamp);
            }
        }

        private void release(long stamp) {
            lock.unlockRead(stamp);
        }

        @Override
        List<String> releasingMethods() {
            return Arrays.asList("release", "locked");
        }

        @Override
        Object lock() {
            return lock;
        }

        @Override
        Demand demand() {
            return Demand.READ;
        }
    }

    private static final class StampedWriter extends Guard {
        private final StampedLock lock;

        StampedWriter(StampedLock lock) {
            this.lock = lock;
        }

        @Override
        void locked(Turn turn) {
            long stamp = lock.writeLock();
            try {
                turn.run();
            } finally {
                release(stamp);
            }
        }

        private void release(long stamp) {
            lock.unlockWrite(stamp);
        }

        @Override
        List<String> releasingMethods() {
            return Arrays.asList("release", "locked");
        }

        @Override
        Object lock() {
            return lock;
        }

        @Override
        Demand demand() {
            return Demand.WRITE;
        }
    }
}
