package pairs.real;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Random;
import java.util.logging.Level;
import java.util.logging.LogManager;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import pairs.Program;
import pairs.Work;

/**
 * Visitors of an embedded Tomcat, whose servlet makes each page under the lock of its sales; or only reads there
 * what it then makes the page of.
 */
public final class Tomcat extends Program {
    private static final int VISITORS = 8;
    private static final int VISITS = 180;

    private final org.apache.catalina.startup.Tomcat server = new org.apache.catalina.startup.Tomcat();
    private final URL page;

    public Tomcat(boolean isAfter) throws Exception {
        super(VISITORS, VISITS);
        LogManager.getLogManager().getLogger("").setLevel(Level.OFF);
        System.setProperty("http.maxConnections", Integer.toString(VISITORS));
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", Integer.toString(VISITORS));
        connector.setProperty("maxKeepAliveRequests", "-1");
        server.setBaseDir(Files.createTempDirectory("tomcat").toString());
        server.setConnector(connector);
        Context context = server.addContext("", null);
        org.apache.catalina.startup.Tomcat.addServlet(context, "sales", new Sales(isAfter));
        context.addServletMappingDecoded("/", "sales");
        server.start();
        page = new URL("http://127.0.0.1:" + connector.getLocalPort() + "/");
    }

    @Override
    protected void turn(Random random, int thread, int turn) throws IOException {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(page.openStream(), StandardCharsets.US_ASCII))) {
            String line = lines.readLine();
            if (!line.endsWith(" visits")) {
                throw new AssertionError(line);
            }
        }
    }

    @Override
    protected void end() throws Exception {
        server.stop();
        server.destroy();
    }

    private static final class Sales extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final boolean isOutside;
        private final transient Random random = new Random(0);
        private int visits;

        Sales(boolean isOutside) {
            this.isOutside = isOutside;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String page;
            if (isOutside) {
                page = makePage(visit());
            } else {
                synchronized (this) {
                    page = makePage(visit());
                }
            }
            response.setContentType("text/plain");
            response.getWriter().println(page);
        }

        private synchronized int visit() {
            return ++visits;
        }

        private String makePage(int visit) {
            Work.pause(random, 2_000);
            return visit + " visits";
        }
    }
}
