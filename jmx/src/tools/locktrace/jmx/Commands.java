package tools.locktrace.jmx;

import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanException;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;

/** The JVM's diagnostic commands about lock contention, as {@code jcmd} has them. */
final class Commands {
    private static final String[] SIGNATURE = {String[].class.getName()};

    private final MBeanServer server;
    private final ObjectName diagnosticCommands;

    Commands(MBeanServer server) throws MalformedObjectNameException {
        this.server = server;
        diagnosticCommands = new ObjectName("com.sun.management:type=DiagnosticCommand");
    }

    /** Returns whether this JVM can trace lock contention. */
    boolean exist() throws JMException {
        try {
            for (MBeanOperationInfo operation : server.getMBeanInfo(diagnosticCommands).getOperations()) {
                if (operation.getName().equals("lockcontentionReport")) {
                    return true;
                }
            }
            return false;
        } catch (InstanceNotFoundException e) {
            return false;
        }
    }

    String status() {
        return call("lockcontentionStatus");
    }

    String start(String... arguments) {
        return call("lockcontentionStart", arguments);
    }

    String stop() {
        return call("lockcontentionStop");
    }

    String dump(String file) {
        return call("lockcontentionDump", "file=" + quoted(file));
    }

    String report(String... arguments) {
        return call("lockcontentionReport", arguments);
    }

    /** The command's own words are the message of the exception if it refuses. */
    private String call(String operation, String... arguments) {
        Object[] parameters = {arguments};
        String[] signature = SIGNATURE;
        if (operation.endsWith("Status") || operation.endsWith("Stop")) {
            parameters = new Object[0];
            signature = new String[0];
        }
        try {
            return (String) server.invoke(diagnosticCommands, operation, parameters, signature);
        } catch (RuntimeMBeanException e) {
            throw new IllegalArgumentException(e.getTargetException().getMessage());
        } catch (MBeanException e) {
            throw new IllegalArgumentException(e.getTargetException().getMessage());
        } catch (JMException e) {
            throw new IllegalStateException(e.toString());
        }
    }

    private static String quoted(String text) {
        if (text.indexOf('"') >= 0) {
            throw new IllegalArgumentException("file: a name with quotes cannot be passed on: " + text);
        }
        return '"' + text + '"';
    }
}
