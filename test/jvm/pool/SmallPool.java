package pool;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * Eight clients need one of two connections of a pool, each for a millisecond. What
 * they wait for is the return of a connection, which the pool hands over: no lock. A
 * worker writes down what the clients did, and has nothing to do most of the time.
 *
 * <p>Prints {@code waited NANOS}: how long all calls of {@code getConnection} took.
 */
public final class SmallPool {
    private static final int CLIENTS = 8;
    private static final int CONNECTIONS = 2;
    private static final int ROUNDS = 250;

    private final HikariDataSource pool;
    private final LongAdder waitedNanos = new LongAdder();
    private final LinkedBlockingQueue<String> journal = new LinkedBlockingQueue<>();

    private SmallPool() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(new Database());
        config.setMaximumPoolSize(CONNECTIONS);
        pool = new HikariDataSource(config);
    }

    public static void main(String[] args) throws Exception {
        new SmallPool().run();
        System.exit(0);
    }

    private void run() throws InterruptedException {
        new Thread(this::write, "journal").start();
        Thread[] clients = new Thread[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            clients[i] = new Thread(this::work, "client-" + i);
            clients[i].start();
        }
        for (Thread client : clients) {
            client.join();
        }
        System.out.println("waited " + waitedNanos.sum());
    }

    private void work() {
        try {
            for (int round = 0; round < ROUNDS; round++) {
                long before = System.nanoTime();
                try (Connection connection = pool.getConnection()) {
                    waitedNanos.add(System.nanoTime() - before);
                    connection.clearWarnings();
                    TimeUnit.MILLISECONDS.sleep(1);
                }
                if (round % 50 == 0) {
                    journal.add(Thread.currentThread().getName() + " " + round);
                }
            }
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void write() {
        try {
            while (true) {
                journal.take();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Connections that do nothing. */
    private static final class Database implements DataSource {
        @Override
        public Connection getConnection() {
            return (Connection) Proxy.newProxyInstance(
                    SmallPool.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> answer(method.getReturnType()));
        }

        private static Object answer(Class<?> type) {
            if (type == boolean.class) {
                return true;
            }
            return type == int.class ? (Object) 0 : null;
        }

        @Override
        public Connection getConnection(String user, String password) {
            return getConnection();
        }

        @Override
        public PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() {
            return null;
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("nothing is wrapped");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
