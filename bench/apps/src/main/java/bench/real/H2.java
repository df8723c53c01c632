package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Clients of an H2 database in memory move money between accounts. H2 1.2
 * executes one command of a database at a time, under the database's lock.
 */
public final class H2 implements Application {
    private static final String URL = "jdbc:h2:mem:bank;LOCK_TIMEOUT=600000";
    private static final int TRANSFERS = 80_000;
    private static final int ACCOUNTS = 1_000;
    private static final int INITIAL_BALANCE = 1_000;

    private final int clients;
    private final int transfersEach;
    /** Open as long as the database is to be there. */
    private final Connection connection;

    public H2(Settings settings) throws Exception {
        clients = settings.threads();
        transfersEach = Math.max(1, settings.work(TRANSFERS) / clients);
        Class.forName("org.h2.Driver");
        connection = DriverManager.getConnection(URL);
        execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)");
        execute("CREATE TABLE transfer (payer INT, payee INT, amount INT)");
        for (int id = 0; id < ACCOUNTS; id++) {
            execute("INSERT INTO account VALUES (" + id + ", " + INITIAL_BALANCE + ")");
        }
    }

    @Override
    public void iterate() throws Exception {
        execute("TRUNCATE TABLE transfer");
        Team.run("client", clients, number -> {
            try (Connection client = DriverManager.getConnection(URL)) {
                client.setAutoCommit(false);
                for (int i = 0; i < transfersEach; i++) {
                    transfer(client, (number * 31 + i) % ACCOUNTS, (number * 17 + i * 7 + 1) % ACCOUNTS, 1 + i % 9);
                }
            }
        });
    }

    @Override
    public void check() throws Exception {
        WrongResult.unlessEqual("transfers", (long) clients * transfersEach, query("SELECT COUNT(*) FROM transfer"));
        WrongResult.unlessEqual("money", (long) ACCOUNTS * INITIAL_BALANCE, query("SELECT SUM(balance) FROM account"));
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    private static void transfer(Connection client, int payer, int payee, int amount) throws SQLException {
        update(client, "UPDATE account SET balance = balance - ? WHERE id = ?", amount, payer);
        update(client, "UPDATE account SET balance = balance + ? WHERE id = ?", amount, payee);
        update(client, "INSERT INTO transfer VALUES (?, ?, ?)", payer, payee, amount);
        client.commit();
    }

    private static void update(Connection client, String sql, int... parameters) throws SQLException {
        try (PreparedStatement statement = client.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setInt(i + 1, parameters[i]);
            }
            statement.executeUpdate();
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long query(String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getLong(1);
        }
    }
}
