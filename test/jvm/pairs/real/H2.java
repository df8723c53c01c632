package pairs.real;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import pairs.Program;
import pairs.Work;

/**
 * Payments in an H2 1.2 database, whose statements ask for an exchange rate, which takes its time: under the lock
 * of the database, as are all statements. Or the rate is asked for before, and is a parameter.
 */
public final class H2 extends Program {
    private static final String URL = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000;MULTI_THREADED=0";
    private static final int THREADS = 8;
    private static final int TURNS = 200;

    private final boolean isOutside;
    private final Connection[] connections = new Connection[THREADS];

    public H2(boolean isAfter) throws Exception {
        super(THREADS, TURNS);
        isOutside = isAfter;
        Class.forName("org.h2.Driver");
        for (int thread = 0; thread < THREADS; thread++) {
            connections[thread] = DriverManager.getConnection(URL);
        }
        try (Statement statement = connections[0].createStatement()) {
            statement.execute("CREATE ALIAS RATE FOR \"pairs.real.H2.rate\"");
            for (int thread = 0; thread < THREADS; thread++) {
                statement.execute("CREATE TABLE payment" + thread + " (turn INT, cents INT)");
            }
        }
    }

    /** Called by the database. */
    public static int rate(int turn) {
        Work.pause(new Random(turn), 1_500);
        return 100 + turn % 7;
    }

    @Override
    protected void turn(Random random, int thread, int turn) throws SQLException {
        Work.pause(random, 1_000);
        String table = "INSERT INTO payment" + thread;
        if (isOutside) {
            insert(connections[thread], table + " VALUES (?, ?)", turn, rate(turn));
        } else {
            insert(connections[thread], table + " VALUES (?, RATE(?))", turn, turn);
        }
    }

    @Override
    protected void end() throws SQLException {
        for (int thread = 0; thread < THREADS; thread++) {
            try (Statement statement = connections[thread].createStatement();
                    ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM payment" + thread)) {
                rows.next();
                if (rows.getInt(1) != TURNS) {
                    throw new AssertionError(rows.getInt(1) + " payments");
                }
            }
        }
    }

    private static void insert(Connection connection, String sql, int turn, int value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, turn);
            statement.setInt(2, value);
            statement.executeUpdate();
        }
    }
}
