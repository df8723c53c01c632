package h2;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Eight clients of one in-memory H2 database read and write rows by their key, with
 * statements that are prepared once, each as often as requested.
 *
 * <p>That makes a few methods so hot that C2 compiles them with nearly all that they
 * call: the largest methods that a compiler meets in these tests, with several places
 * that release the database's lock inlined in one.
 *
 * <p>Prints "no update lost", and fails unless that is so.
 */
public final class KeyedStatements {
    private static final String URL = "jdbc:h2:mem:keyed;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";
    private static final int CLIENTS = 8;
    private static final int ROWS = 1_000;

    private KeyedStatements() {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        Class.forName("org.h2.Driver");
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE counter (id INT PRIMARY KEY, value INT NOT NULL)");
            for (int id = 0; id < ROWS; id++) {
                statement.execute("INSERT INTO counter VALUES (" + id + ", 0)");
            }
            AtomicLong updates = new AtomicLong();
            Thread[] clients = new Thread[CLIENTS];
            for (int i = 0; i < clients.length; i++) {
                int first = i * ROWS / CLIENTS;
                clients[i] = new Thread(() -> {
                    try {
                        updates.addAndGet(run(first, rounds));
                    } catch (SQLException e) {
                        throw new AssertionError(e);
                    }
                }, "client-" + i);
                clients[i].start();
            }
            for (Thread client : clients) {
                client.join();
            }
            ResultSet sum = statement.executeQuery("SELECT SUM(CAST(value AS BIGINT)) FROM counter");
            sum.next();
            if (sum.getLong(1) != updates.get()) {
                throw new AssertionError(sum.getLong(1) + " of " + updates + " updates");
            }
            System.out.println("no update lost");
        }
    }

    /** Goes through the rows, starting with one; returns how many were updated. */
    private static int run(int first, int rounds) throws SQLException {
        int updates = 0;
        try (Connection connection = DriverManager.getConnection(URL);
                PreparedStatement select = connection.prepareStatement("SELECT value FROM counter WHERE id = ?");
                PreparedStatement update = connection.prepareStatement("UPDATE counter SET value = value + 1 WHERE id = ?")) {
            for (int i = first; i < first + rounds; i++) {
                select.setInt(1, i % ROWS);
                try (ResultSet row = select.executeQuery()) {
                    row.next();
                    row.getInt(1);
                }
                update.setInt(1, i % ROWS);
                updates += update.executeUpdate();
            }
        }
        return updates;
    }
}
