package scenarios;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A reader that keeps a lock for long, a writer behind it, and readers behind the writer. With {@code downgrade} it is a
 * writer that goes on as a reader. Prints {@code hold METHOD WANTED ACQUIRED RELEASED} for each hold, in nanoseconds.
 */
public final class StalledReaders {
    private static final int ROUNDS = 3;
    private static final int READERS = 4;

    private static ReadWriteLock lock;
    private static final List<String> HOLDS = new CopyOnWriteArrayList<>();

    private StalledReaders() {
    }

    public static void main(String[] args) throws InterruptedException {
        boolean downgrades = args[0].equals("downgrade");
        lock = args[0].equals("stamped") ? new StampedLock().asReadWriteLock()
            : new ReentrantReadWriteLock(args[0].equals("fair"));
        for (int round = 0; round < ROUNDS; round++) {
            Thread[] threads = new Thread[READERS + 2];
            threads[0] = start("exporter", downgrades ? StalledReaders::downgrade : StalledReaders::export);
            Thread.sleep(50);
            threads[1] = start("writer", StalledReaders::refresh);
            Thread.sleep(30);
            for (int reader = 0; reader < READERS; reader++) {
                threads[reader + 2] = start("reader-" + reader, StalledReaders::lookup);
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        HOLDS.forEach(System.out::println);
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    private static void export() {
        hold("export", lock.readLock(), 300);
    }

    private static void refresh() {
        hold("refresh", lock.writeLock(), 20);
    }

    private static void lookup() {
        hold("lookup", lock.readLock(), 1);
    }

    private static void hold(String method, Lock lock, long millis) {
        long wanted = System.nanoTime();
        lock.lock();
        long acquired = System.nanoTime();
        pause(millis);
        long released = System.nanoTime();
        lock.unlock();
        HOLDS.add("hold " + method + " " + wanted + " " + acquired + " " + released);
    }

    private static void downgrade() {
        long wanted = System.nanoTime();
        lock.writeLock().lock();
        long acquired = System.nanoTime();
        pause(150);
        lock.readLock().lock();
        lock.writeLock().unlock();
        pause(150);
        long released = System.nanoTime();
        lock.readLock().unlock();
        HOLDS.add("hold downgrade " + wanted + " " + acquired + " " + released);
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException exception) {
            throw new IllegalStateException(exception);
        }
    }
}
