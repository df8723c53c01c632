package server;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The customers' orders, behind a few connections.
 *
 * <p>A connection is in use until the database has answered; meanwhile others
 * wait for one.
 */
final class Database {
    private static final long INSERT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SELECT_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    private final Semaphore connections;
    private final AtomicIntegerArray orders;

    Database(int connections, int customers) {
        this.connections = new Semaphore(connections);
        orders = new AtomicIntegerArray(customers);
    }

    void insertOrder(int customer) {
        connections.acquireUninterruptibly();
        try {
            await(INSERT_NANOS);
            orders.incrementAndGet(customer);
        } finally {
            connections.release();
        }
    }

    /** Returns how often the customer has ordered. */
    int selectHistory(int customer) {
        connections.acquireUninterruptibly();
        try {
            await(SELECT_NANOS);
            return orders.get(customer);
        } finally {
            connections.release();
        }
    }

    /** Stands for the database's work, which takes no processor here. */
    private static void await(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
