package scenarios;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Eight threads want one {@link ReentrantLock} in every way that there is, and have
 * it for 0.5 to 7.5 milliseconds, in methods of different names. In every fourth turn
 * a thread wants it again at once, and takes it before the one that it has just
 * woken.
 *
 * <p>The only argument says whether the lock is {@code fair} or {@code nonfair}.
 * Prints, besides what {@link TraceClock} does,
 *
 * <ul>
 *   <li>{@code hold THREAD METHOD WANTED_NS ACQUIRED_NS RELEASED_NS LEFT_NS} for
 *       each time that a thread had the lock;
 *   <li>{@code failure THREAD WANTED_NS RETURNED_NS} for each call that came back
 *       without the lock.
 * </ul>
 */
public final class LockHolds {
    private static final int WORKERS = 8;
    private static final int TURNS = 48;
    private static final long BRIEF_NANOS = 500_000;
    private static final long MEDIUM_NANOS = 2_500_000;
    private static final long LONG_NANOS = 7_500_000;

    private final ReentrantLock lock;
    private final Condition condition;
    private final Worker[] workers = new Worker[WORKERS];

    private LockHolds(boolean fair) {
        lock = new ReentrantLock(fair);
        condition = lock.newCondition();
        Arrays.setAll(workers, Worker::new);
    }

    public static void main(String[] args) throws InterruptedException {
        TraceClock.print();
        new LockHolds(args[0].equals("fair")).run();
    }

    private void run() throws InterruptedException {
        for (Worker worker : workers) {
            worker.start();
        }
        while (Arrays.stream(workers).anyMatch(Thread::isAlive)) {
            TimeUnit.MILLISECONDS.sleep(1);
            for (Worker worker : workers) {
                if (worker.isInterruptible) {
                    worker.interrupt();
                }
            }
        }
        for (Worker worker : workers) {
            worker.notes.forEach(System.out::println);
        }
    }

    private final class Worker extends Thread {
        private final int number;
        private final List<String> notes = new ArrayList<>(2 * TURNS);
        private volatile boolean isInterruptible;
        private long wanted;
        private long released;

        Worker(int number) {
            super("worker-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            for (int turn = 0; turn < TURNS; turn++) {
                take((number + turn) % 8);
                if (turn % 4 > 0) {
                    think();
                }
            }
        }

        private void take(int method) {
            switch (method) {
                case 0:
                    medium();
                    break;
                case 1:
                    slow();
                    break;
                case 2:
                    inTime();
                    break;
                case 3:
                    interruptibly();
                    break;
                case 4:
                    await();
                    break;
                case 5:
                    signal();
                    break;
                default:
                    brief();
                    break;
            }
        }

        private void brief() {
            want();
            lock.lock();
            hold("brief", BRIEF_NANOS);
            lock.unlock();
            leave();
        }

        private void medium() {
            want();
            lock.lock();
            hold("medium", MEDIUM_NANOS);
            lock.unlock();
            leave();
        }

        private void slow() {
            want();
            lock.lock();
            hold("slow", LONG_NANOS);
            lock.unlock();
            leave();
        }

        private void inTime() {
            want();
            try {
                if (!lock.tryLock(LONG_NANOS, TimeUnit.NANOSECONDS)) {
                    giveUp();
                    return;
                }
            } catch (InterruptedException e) {
                giveUp(); // the interrupt came late
                return;
            }
            hold("inTime", MEDIUM_NANOS);
            lock.unlock();
            leave();
        }

        /** The main thread interrupts some of these calls. */
        private void interruptibly() {
            isInterruptible = true;
            want();
            try {
                lock.lockInterruptibly();
            } catch (InterruptedException e) {
                giveUp();
                return;
            } finally {
                isInterruptible = false;
            }
            hold("interruptibly", MEDIUM_NANOS);
            lock.unlock();
            leave();
        }

        private void await() {
            want();
            lock.lock();
            hold("await", MEDIUM_NANOS);
            try {
                condition.await(LONG_NANOS, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                // It came late. The thread has the lock in any case.
            }
            wanted = released;
            leave();
            hold("await", BRIEF_NANOS);
            lock.unlock();
            leave();
        }

        private void signal() {
            want();
            lock.lock();
            hold("signal", MEDIUM_NANOS);
            condition.signalAll();
            lock.unlock();
            leave();
        }

        private void want() {
            wanted = System.nanoTime();
        }

        /** Has the lock for some time, and is about to release it. */
        private void hold(String method, long nanos) {
            long acquired = System.nanoTime();
            released = acquired;
            while (released - acquired < nanos) {
                released = System.nanoTime();
            }
            notes.add("hold " + getName() + " " + method + " " + wanted + " " + acquired + " " + released);
        }

        /** Does not have the lock any more. */
        private void leave() {
            notes.add(notes.remove(notes.size() - 1) + " " + System.nanoTime());
        }

        private void giveUp() {
            notes.add("failure " + getName() + " " + wanted + " " + System.nanoTime());
        }

        private void think() {
            try {
                TimeUnit.MILLISECONDS.sleep(1);
            } catch (InterruptedException e) {
                // It came late.
            }
        }
    }
}
