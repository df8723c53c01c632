package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.TemporaryFolder;
import bench.WrongResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;

/**
 * An embedded Tomcat and clients on the loopback interface, each with a session
 * that counts its visits. As many threads serve as visit.
 */
public final class Tomcat implements Application {
    private static final int VISITS = 10_000;
    private static final String COOKIE = "JSESSIONID";

    private final int clients;
    private final int visitsEach;
    private final TemporaryFolder folder = new TemporaryFolder();
    private final GuestBook guestBook = new GuestBook();
    private final org.apache.catalina.startup.Tomcat server = new org.apache.catalina.startup.Tomcat();
    private final URL url;

    public Tomcat(Settings settings) throws Exception {
        clients = settings.threads();
        visitsEach = Math.max(1, settings.work(VISITS) / clients);
        // Every client keeps its connection.
        System.setProperty("http.maxConnections", Integer.toString(clients));

        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", Integer.toString(clients));
        connector.setProperty("minSpareThreads", Integer.toString(clients));
        connector.setProperty("maxKeepAliveRequests", "-1");
        server.setBaseDir(folder.path().toString());
        server.setConnector(connector);
        Context context = server.addContext("", folder.path().toString());
        org.apache.catalina.startup.Tomcat.addServlet(context, "guests", guestBook);
        context.addServletMappingDecoded("/", "guests");
        server.start();
        url = new URL("http://127.0.0.1:" + connector.getLocalPort() + "/");
    }

    @Override
    public void iterate() throws Exception {
        guestBook.forget();
        Team.run("client", clients, client -> {
            String session = visit(null, client, 1);
            for (int visit = 2; visit <= visitsEach; visit++) {
                visit(session, client, visit);
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        for (int client = 0; client < clients; client++) {
            WrongResult.unlessEqual("visits of client " + client, visitsEach, guestBook.visits(Integer.toString(client)));
        }
    }

    @Override
    public void close() throws Exception {
        server.stop();
        server.destroy();
        folder.close();
    }

    /** Visits the page, checks what it says, and returns the name of the session. */
    private String visit(String session, int client, int visit) throws IOException, WrongResult {
        HttpURLConnection connection = (HttpURLConnection) new URL(url, "?guest=" + client).openConnection();
        if (session != null) {
            connection.setRequestProperty("Cookie", COOKIE + "=" + session);
        }
        try (BufferedReader page = new BufferedReader(
                new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII))) {
            WrongResult.unlessEqual("first line", GuestBook.greeting(Integer.toString(client), visit), page.readLine());
            int lines = 0;
            while (page.readLine() != null) {
                lines++;
            }
            WrongResult.unlessEqual("lines below", GuestBook.LINES, lines);
        }
        return session != null ? session : newSession(connection);
    }

    private static String newSession(HttpURLConnection connection) throws WrongResult {
        String cookie = connection.getHeaderField("Set-Cookie");
        WrongResult.unless(cookie != null && cookie.startsWith(COOKIE + "="), "no session: " + cookie);
        return cookie.substring(COOKIE.length() + 1, cookie.indexOf(';'));
    }
}
