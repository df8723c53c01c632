package h2;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Eight clients of one in-memory H2 database move money between accounts.
 *
 * <p>H2 1.2 executes one command of a database at a time: every command runs
 * under the lock of the {@code org.h2.engine.Database} object, taken in
 * {@code org.h2.command.Command}. The trace must say so.
 *
 * <p>Prints how many transfers were made, and fails unless no money was lost.
 */
public final class BankTransfers {
    private static final String URL = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";
    private static final int CLIENTS = 8;
    private static final int TRANSFERS = 2_000;
    private static final int ACCOUNTS = 100;
    private static final int INITIAL_BALANCE = 1_000;

    private BankTransfers() {}

    public static void main(String[] args) throws Exception {
        Class.forName("org.h2.Driver");
        try (Connection connection = DriverManager.getConnection(URL)) {
            createAccounts(connection);
            Client[] clients = new Client[CLIENTS];
            for (int i = 0; i < clients.length; i++) {
                clients[i] = new Client(i);
                clients[i].start();
            }
            for (Client client : clients) {
                client.join();
            }
            long balance = count(connection, "SELECT SUM(balance) FROM account");
            long transfers = count(connection, "SELECT COUNT(*) FROM transfer");
            if (balance != ACCOUNTS * INITIAL_BALANCE || transfers != CLIENTS * TRANSFERS) {
                throw new AssertionError("balance " + balance + " after " + transfers + " transfers");
            }
            System.out.println(transfers + " transfers, no money lost");
        }
    }

    private static void createAccounts(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)");
            statement.execute("CREATE TABLE transfer (payer INT, payee INT, amount INT)");
            for (int id = 0; id < ACCOUNTS; id++) {
                statement.execute("INSERT INTO account VALUES (" + id + ", " + INITIAL_BALANCE + ")");
            }
        }
    }

    private static long count(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        }
    }

    private static final class Client extends Thread {
        private final int number;

        Client(int number) {
            super("client-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            try (Connection connection = DriverManager.getConnection(URL)) {
                connection.setAutoCommit(false);
                for (int i = 0; i < TRANSFERS; i++) {
                    transfer(connection, (number * 31 + i) % ACCOUNTS, (number * 17 + i * 7 + 1) % ACCOUNTS, 1 + i % 9);
                }
            } catch (SQLException e) {
                throw new AssertionError(e);
            }
        }

        private static void transfer(Connection connection, int payer, int payee, int amount) throws SQLException {
            execute(connection, "UPDATE account SET balance = balance - ? WHERE id = ?", amount, payer);
            execute(connection, "UPDATE account SET balance = balance + ? WHERE id = ?", amount, payee);
            execute(connection, "INSERT INTO transfer VALUES (?, ?, ?)", payer, payee, amount);
            connection.commit();
        }

        private static void execute(Connection connection, String sql, int... parameters) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < parameters.length; i++) {
                    statement.setInt(i + 1, parameters[i]);
                }
                statement.executeUpdate();
            }
        }
    }
}
