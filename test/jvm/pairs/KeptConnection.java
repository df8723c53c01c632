package pairs;

import java.util.ArrayDeque;
import java.util.Random;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Clients borrow one of three connections. Half of the time they keep it while they send mail; or give it back before. */
public final class KeptConnection extends Program {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition returned = lock.newCondition();
    private final ArrayDeque<Integer> connections = new ArrayDeque<>();
    private final boolean isAfter;

    public KeptConnection(boolean isAfter) {
        super(8, 150);
        this.isAfter = isAfter;
        for (int connection = 0; connection < 3; connection++) {
            connections.add(connection);
        }
    }

    @Override
    protected void turn(Random random, int thread, int turn) throws InterruptedException {
        Work.pause(random, 3_000);
        if ((thread + turn) % 2 == 0) {
            mail(random);
        } else {
            query(random);
        }
    }

    private void query(Random random) throws InterruptedException {
        int connection = borrow();
        Work.pause(random, 2_000);
        lock.lock();
        try {
            connections.add(connection);
            returned.signal();
        } finally {
            lock.unlock();
        }
    }

    private void mail(Random random) throws InterruptedException {
        int connection = borrow();
        Work.pause(random, 500);
        if (!isAfter) {
            Work.pause(random, 8_000);
        }
        lock.lock();
        try {
            connections.add(connection);
            returned.signal();
        } finally {
            lock.unlock();
        }
        if (isAfter) {
            Work.pause(random, 8_000);
        }
    }

    private int borrow() throws InterruptedException {
        lock.lock();
        try {
            while (connections.isEmpty()) {
                returned.await();
            }
            return connections.remove();
        } finally {
            lock.unlock();
        }
    }
}
