package demo;

import java.util.Hashtable;
import java.util.Map;

/** The debts of each customer, in cents. */
final class Ledger {
    private final Hashtable<Integer, Long> balances = new Hashtable<>();

    /** Books nothing for each customer: no worker waits until {@link #credit} has been linked. */
    Ledger(int customers) {
        for (int customer = 0; customer < customers; customer++) {
            credit(customer, 0);
        }
    }

    void credit(int customer, long cents) {
        balances.merge(customer, cents, Long::sum);
    }

    /** Formats one line per customer; keeps the whole table locked meanwhile. */
    String formatStatement() {
        StringBuilder statement = new StringBuilder();
        synchronized (balances) {
            for (Map.Entry<Integer, Long> balance : balances.entrySet()) {
                statement.append(formatLine(balance.getKey(), balance.getValue()));
            }
        }
        return statement.toString();
    }

    long total() {
        synchronized (balances) {
            long total = 0;
            for (long balance : balances.values()) {
                total += balance;
            }
            return total;
        }
    }

    private static String formatLine(int customer, long cents) {
        return String.format("%6d %9d.%02d%n", customer, cents / 100, Math.abs(cents % 100));
    }
}
