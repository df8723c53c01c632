package scenarios;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Threads wait for notifications of a few monitors and notify each other, and log each wait: when it began and ended, its
 * limit, and how it ended.
 *
 * <p>Arguments: how many threads, how often each waits, and {@code plain} or {@code racing}. In plain runs no wait has a
 * limit. Then the order of waits decides whom a notification takes, as it does in HotSpot: the monitor's owner keeps the
 * same queue, and the waiter logs who notified it. In racing runs limits end at about the time of notifications, and a
 * thread interrupts the others.
 *
 * <p>Prints for each wait {@code wait THREAD BEGIN_NS END_NS LIMIT_MS HOW NOTIFIER WAITERS}, where HOW is {@code returned}
 * or {@code interrupted}, the last two {@code - 0} where they are not known; and in the end
 * {@code notifications THREAD COUNT}, those that found somebody in plain runs.
 */
public final class WaitOracle {
    private static final int MONITORS = 3;

    private final int threads;
    private final int waits;
    private final boolean racing;
    private final Board[] boards = new Board[MONITORS];
    private final Worker[] workers;

    /** A monitor, and its queue of waiters. */
    static final class Board {
        final ArrayDeque<Waiter> queue = new ArrayDeque<>();
    }

    /** A thread that waits, and who has notified it. */
    static final class Waiter {
        String notifier = "-";
        int waiters;
    }

    private WaitOracle(String[] args) {
        threads = Integer.parseInt(args[0]);
        waits = Integer.parseInt(args[1]);
        racing = args[2].equals("racing");
        workers = new Worker[threads];
    }

    public static void main(String[] args) throws InterruptedException {
        new WaitOracle(args).run();
    }

    private void run() throws InterruptedException {
        for (int i = 0; i < MONITORS; i++) {
            boards[i] = new Board();
        }
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker("worker-" + i);
            workers[i].setDaemon(true);
        }
        for (Worker worker : workers) {
            worker.start();
        }
        Notifier notifier = new Notifier();
        // When all workers wait, this thread wakes them.
        while (areSomeAlive()) {
            Thread.sleep(1);
            for (Board board : boards) {
                synchronized (board) {
                    notifier.notifyAll(board, "main");
                }
            }
            if (racing) {
                interrupt(workers[ThreadLocalRandom.current().nextInt(threads)]);
            }
        }
        for (Worker worker : workers) {
            worker.log.forEach(System.out::println);
            System.out.println("notifications " + worker.getName() + " " + worker.notifier.count);
        }
        System.out.println("notifications main " + notifier.count);
    }

    /** Interrupts a worker in {@code wait}, and no other: it would not begin its next wait. */
    private static void interrupt(Worker worker) {
        Board board = worker.waitsOn;
        if (board != null) {
            synchronized (board) {
                if (worker.waitsOn == board) {
                    worker.interrupt();
                }
            }
        }
    }

    private boolean areSomeAlive() {
        for (Worker worker : workers) {
            if (worker.isAlive()) {
                return true;
            }
        }
        return false;
    }

    /** Notifies, and keeps the queue of a plain run. */
    private static final class Notifier {
        long count;

        void notifyOne(Board board, String name) {
            int waiters = board.queue.size();
            tell(board.queue.poll(), name, waiters);
            board.notify();
        }

        void notifyAll(Board board, String name) {
            int waiters = board.queue.size();
            if (waiters > 0) {
                count++;
            }
            for (Waiter waiter; (waiter = board.queue.poll()) != null; ) {
                waiter.notifier = name;
                waiter.waiters = waiters;
            }
            board.notifyAll();
        }

        private void tell(Waiter waiter, String name, int waiters) {
            if (waiter != null) {
                count++;
                waiter.notifier = name;
                waiter.waiters = waiters;
            }
        }
    }

    private final class Worker extends Thread {
        final List<String> log = new ArrayList<>();
        final Notifier notifier = new Notifier();
        /** Guarded by that monitor. */
        volatile Board waitsOn;

        Worker(String name) {
            super(name);
        }

        @Override
        public void run() {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            for (int i = 0; i < waits; i++) {
                await(boards[random.nextInt(MONITORS)], racing && random.nextInt(4) != 0 ? 1 + random.nextInt(2) : 0);
                Board board = boards[random.nextInt(MONITORS)];
                synchronized (board) {
                    if (random.nextInt(4) == 0) {
                        notifier.notifyAll(board, getName());
                    } else {
                        notifier.notifyOne(board, getName());
                    }
                }
            }
        }

        private void await(Board board, long limitMillis) {
            Waiter waiter = new Waiter();
            String how = "returned";
            long beganNanos;
            synchronized (board) {
                if (!racing) {
                    board.queue.add(waiter);
                }
                waitsOn = board;
                beganNanos = System.nanoTime();
                try {
                    board.wait(limitMillis);
                } catch (InterruptedException e) {
                    how = "interrupted";
                }
                long endedNanos = System.nanoTime();
                waitsOn = null;
                // It came after the notification.
                interrupted();
                log.add("wait " + getName() + " " + beganNanos + " " + endedNanos + " " + limitMillis + " " + how + " "
                        + waiter.notifier + " " + waiter.waiters);
            }
        }
    }
}
