package server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * A shop in an embedded Tomcat, and its visitors.
 *
 * <p>Two things are slow. {@link Sales#report} keeps the lock of {@link Sales}
 * while it formats, so {@link Sales#add} waits. {@link Database#selectHistory}
 * keeps a connection for long, so orders and other histories wait for one. The
 * trace must say so. Tomcat's workers and the visitors' threads have nothing to
 * do most of the time, which is no contention.
 *
 * <p>Arguments, all optional: for how many seconds, how many visitors, how many
 * threads Tomcat may have for them, how many connections to the database. On a
 * busy machine it takes longer, until every visitor has seen enough. Prints how
 * many pages were seen, and fails unless all of them were right.
 */
public final class WebShop {
    private static final int CUSTOMERS = 20_000;
    private static final long THINKING_MILLIS = 10;
    private static final Logger TOMCAT_LOGGER = Logger.getLogger("org.apache");

    private WebShop() {}

    public static void main(String[] args) throws Exception {
        int seconds = argument(args, 0, 3);
        int visitors = argument(args, 1, 16);
        int workers = argument(args, 2, 8);
        int connections = argument(args, 3, 3);

        TOMCAT_LOGGER.setLevel(Level.SEVERE);
        Tomcat tomcat = tomcat(new ShopServlet(new Database(connections, CUSTOMERS), new Sales(CUSTOMERS)), workers);
        tomcat.start();
        List<Visitor> seen;
        try {
            seen = visit("http://127.0.0.1:" + tomcat.getConnector().getLocalPort(), visitors, seconds);
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
        System.out.printf("%d orders, %d histories, %d reports: all right%n",
                seen.stream().mapToInt(Visitor::orders).sum(),
                seen.stream().mapToInt(Visitor::histories).sum(),
                seen.stream().mapToInt(Visitor::reports).sum());
    }

    private static int argument(String[] args, int index, int byDefault) {
        return index < args.length ? Integer.parseInt(args[index]) : byDefault;
    }

    private static Tomcat tomcat(ShopServlet servlet, int workers) {
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", Integer.toString(workers));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "shop", servlet);
        for (String page : ShopServlet.PAGES) {
            context.addServletMappingDecoded(page, "shop");
        }
        return tomcat;
    }

    /** Returns the visitors when they have left. */
    private static List<Visitor> visit(String shop, int count, int seconds) throws InterruptedException {
        // Connections that HttpURLConnection keeps open.
        System.setProperty("http.maxConnections", Integer.toString(count));
        ScheduledExecutorService threads = Executors.newScheduledThreadPool(count);
        CountDownLatch seenEnough = new CountDownLatch(count);
        List<Visitor> visitors = new ArrayList<>();
        for (int customer = 0; customer < count; customer++) {
            Visitor visitor = new Visitor(shop, customer, seenEnough);
            visitors.add(visitor);
            threads.scheduleWithFixedDelay(visitor, 0, THINKING_MILLIS, TimeUnit.MILLISECONDS);
        }
        TimeUnit.SECONDS.sleep(seconds);
        boolean allSeenEnough = seenEnough.await(1, TimeUnit.MINUTES);
        threads.shutdown();
        boolean allLeft = threads.awaitTermination(1, TimeUnit.MINUTES);
        visitors.forEach(Visitor::complain);
        if (!allSeenEnough || !allLeft) {
            throw new AssertionError("a visitor is stuck");
        }
        return visitors;
    }
}
