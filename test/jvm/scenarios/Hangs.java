package scenarios;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Threads that wait to the end for something that does not come, in a way that the argument names, and some that only
 * look like that. Prints {@code waits THREAD NANOS} for each thread that waits in the end: how long it did, by its own
 * clock.
 */
public final class Hangs {
    /** How long threads wait at the end. */
    private static final long WAIT_MILLIS = 1500;
    /** Names of the threads that wait, each with the time since which it does. */
    private static final Map<String, Long> WAITING = new ConcurrentHashMap<>();

    /** How many permits were not given back. */
    private static final AtomicInteger LOST = new AtomicInteger();

    private final ReentrantLock lock = new ReentrantLock();

    private Hangs() {
    }

    public static void main(String[] args) throws Exception {
        new Hangs().run(args[0]);
        Thread.sleep(WAIT_MILLIS);
        long now = System.nanoTime();
        WAITING.forEach((thread, since) -> System.out.println("waits " + thread + " " + (now - since)));
    }

    private void run(String way) throws Exception {
        switch (way) {
            case "ended-owner":
                endedOwner();
                break;
            case "idle-worker":
                idleWorker();
                break;
            case "leaked-permits":
                leakedPermits();
                break;
            case "future-under-lock":
                futureUnderLock();
                break;
            case "join-under-lock":
                joinUnderLock();
                break;
            case "reader":
                reader(new ReentrantReadWriteLock());
                break;
            case "stamped-reader":
                reader(new StampedLock().asReadWriteLock());
                break;
            case "upgrade":
                upgrade(new ReentrantReadWriteLock());
                break;
            case "stamped-upgrade":
                upgrade(new StampedLock().asReadWriteLock());
                break;
            case "stamped-again":
                writeAgain();
                break;
            case "read-locks":
                readLocks();
                break;
            case "held":
                held(1);
                break;
            case "long-holds":
                held(700);
                break;
            case "starved":
                starved();
                break;
            case "waiting-for-work":
                waitingForWork();
                break;
            default:
                throw new IllegalArgumentException(way);
        }
    }

    private interface Body {
        void run() throws Exception;
    }

    private static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception exception) {
                exception.printStackTrace();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Starts a thread that waits for good in this code, and waits until it does. */
    private static void startWaiting(String name, Body body) throws InterruptedException {
        Thread thread = start(name, () -> {
            WAITING.put(name, System.nanoTime());
            body.run();
            WAITING.remove(name);
        });
        awaitWaiting(thread);
    }

    private static void awaitWaiting(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
    }

    /** An error ends a thread that has the lock. Two clients wait for good, one gives up. */
    private void endedOwner() throws Exception {
        Thread owner = new Thread(() -> {
            lock.lock();
            pause(150);
            throw new IllegalStateException("expected");
        }, "doomed");
        owner.setUncaughtExceptionHandler((thread, error) -> { });
        owner.start();
        Thread.sleep(30);
        startWaiting("client-0", this::request);
        startWaiting("client-1", this::request);
        start("patient", () -> lock.tryLock(200, TimeUnit.MILLISECONDS));
        owner.join();
    }

    private void request() {
        lock.lock();
        lock.unlock();
    }

    /** A task leaves the lock to its worker, which waits for the next one. */
    private void idleWorker() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, body -> {
            Thread thread = new Thread(body, "worker");
            thread.setDaemon(true);
            return thread;
        });
        pool.submit(lock::lock).get();
        startWaiting("client-0", this::request);
    }

    /** Each fourth of the requests does not give its permit back. */
    private static void leakedPermits() throws Exception {
        Semaphore permits = new Semaphore(3);
        ExecutorService io = Executors.newFixedThreadPool(3, body -> {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            return thread;
        });
        Thread[] clients = new Thread[4];
        for (int client = 0; client < clients.length; client++) {
            String name = "client-" + client;
            clients[client] = start(name, () -> {
                for (int request = 0; request < 12; request++) {
                    send(name, request, permits, io);
                }
            });
        }
        while (LOST.get() < 3 || permits.getQueueLength() < clients.length) {
            Thread.sleep(10);
        }
    }

    private static void send(String name, int request, Semaphore permits, ExecutorService io) throws Exception {
        WAITING.put(name, System.nanoTime());
        permits.acquire();
        WAITING.remove(name);
        io.execute(() -> complete(request % 4 == 3, permits));
    }

    private static void complete(boolean fails, Semaphore permits) {
        pause(10);
        if (fails) {
            LOST.incrementAndGet();
        } else {
            permits.release();
        }
    }

    /** A future is waited for under a lock that the thread which completes it needs. */
    private void futureUnderLock() throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        startWaiting("server", () -> changeRole(done));
        startWaiting("completer", () -> {
            report();
            done.complete(null);
        });
        startWaiting("client-0", this::report);
    }

    private synchronized void changeRole(CompletableFuture<Void> done) {
        done.join();
    }

    private synchronized void report() {
    }

    /** The same with the end of a thread, which threads wait for in {@code Object.wait}. */
    private void joinUnderLock() throws Exception {
        Thread[] other = new Thread[1];
        start("server", () -> {
            synchronized (this) {
                other[0] = start("other", () -> {
                    WAITING.put("other", System.nanoTime());
                    report();
                });
                other[0].join();
            }
        });
        while (other[0] == null || other[0].getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
    }

    /** A reader keeps the lock, and others wait behind a writer. */
    private static void reader(ReadWriteLock lock) throws Exception {
        start("exporter", () -> {
            lock.readLock().lock();
            Thread.sleep(1_000_000);
        });
        Thread.sleep(50);
        startWaiting("writer", () -> lock.writeLock().lock());
        startWaiting("reader-0", () -> lock.readLock().lock());
        startWaiting("reader-1", () -> lock.readLock().lock());
    }

    /** A reader wants to write. */
    private static void upgrade(ReadWriteLock lock) throws Exception {
        startWaiting("upgrader", () -> {
            lock.readLock().lock();
            lock.writeLock().lock();
        });
    }

    /** A writer wants to write again, and a reader waits behind it. */
    private static void writeAgain() throws Exception {
        StampedLock lock = new StampedLock();
        startWaiting("writer", () -> {
            lock.writeLock();
            lock.writeLock();
        });
        startWaiting("reader", lock::readLock);
    }

    /** A deadlock in which one of the locks is held by a reader. */
    private void readLocks() throws Exception {
        ReadWriteLock shared = new ReentrantReadWriteLock();
        start("first", () -> {
            shared.readLock().lock();
            Thread.sleep(100);
            WAITING.put("first", System.nanoTime());
            lock.lock();
        });
        start("second", () -> {
            lock.lock();
            Thread.sleep(100);
            WAITING.put("second", System.nanoTime());
            shared.writeLock().lock();
        });
        Thread.sleep(200);
    }

    /** Holds of this many milliseconds, and then one to the end. */
    private void held(long millis) throws Exception {
        for (int round = 0; round < 3; round++) {
            Thread owner = start("owner-" + round, () -> {
                lock.lock();
                pause(millis);
                lock.unlock();
            });
            Thread.sleep(2);
            request();
            owner.join();
        }
        start("owner", () -> {
            lock.lock();
            Thread.sleep(1_000_000);
        });
        Thread.sleep(50);
        startWaiting("client-0", this::request);
    }

    /** A thread that takes one permit after the other keeps out one that wants both. */
    private static void starved() throws Exception {
        Semaphore permits = new Semaphore(2, false);
        permits.acquire();
        startWaiting("large", () -> permits.acquire(2));
        start("small", () -> {
            while (true) {
                permits.acquire();
                permits.release();
                Thread.sleep(5);
            }
        });
    }

    /** A thread that waits for a queue's items in the end, and nothing is wrong. */
    private void waitingForWork() throws Exception {
        Condition work = lock.newCondition();
        startWaiting("consumer", () -> {
            lock.lock();
            work.await();
        });
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException exception) {
            throw new IllegalStateException(exception);
        }
    }
}
