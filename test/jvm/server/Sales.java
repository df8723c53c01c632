package server;

import java.util.concurrent.locks.ReentrantLock;

/** The sums that each customer has spent, kept in memory. */
final class Sales {
    private final ReentrantLock lock = new ReentrantLock();
    private final long[] cents;

    Sales(int customers) {
        cents = new long[customers];
    }

    /** Returns what the customer has spent by now. */
    long add(int customer, long price) {
        lock.lock();
        try {
            cents[customer] += price;
            return cents[customer];
        } finally {
            lock.unlock();
        }
    }

    /** A line for each customer, all of the same moment. */
    String report() {
        lock.lock();
        try {
            StringBuilder lines = new StringBuilder();
            for (int customer = 0; customer < cents.length; customer++) {
                lines.append(String.format("%d: %d\n", customer, cents[customer]));
            }
            return lines.toString();
        } finally {
            lock.unlock();
        }
    }
}
