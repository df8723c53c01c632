package scenarios;

import java.util.Arrays;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Sends requests to another JVM, by its diagnostic commands, through the connector at
 * {@code client.address}. Of {@code client.requests}, with semicolons in between, each is an operation and
 * its arguments, with commas in between. Prints each answer on a line of its own, after the name of the
 * operation.
 */
public final class JmxClient {
    private JmxClient() {}

    public static void main(String[] args) throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        JMXServiceURL address = new JMXServiceURL(System.getProperty("client.address"));
        try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (String request : System.getProperty("client.requests").split(";")) {
                String[] words = request.split(",");
                String answer = call(server, commands, words[0], Arrays.copyOfRange(words, 1, words.length));
                System.out.println(words[0] + " " + answer.trim().replace('\n', ' '));
            }
        }
    }

    /** Returns the JVM's answer, or the reason why it refuses. */
    private static String call(
            MBeanServerConnection server, ObjectName commands, String operation, String... arguments)
            throws Exception {
        // Only operations that can be given something take something.
        boolean takesNone = operation.endsWith("Stop") || operation.endsWith("Status");
        Object[] parameters = takesNone ? new Object[0] : new Object[] {arguments};
        String[] signature = takesNone ? new String[0] : new String[] {String[].class.getName()};
        try {
            return (String) server.invoke(commands, operation, parameters, signature);
        } catch (RuntimeMBeanException e) {
            return "refused: " + e.getTargetException().getMessage();
        }
    }
}
