package tools.locktrace.jmx;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Registers the {@link LockContentionMXBean}: {@code -javaagent:locktrace-jmx.jar}. */
public final class Agent {
    private Agent() {}

    public static void premain(String arguments) {
        register();
    }

    public static void agentmain(String arguments) {
        register();
    }

    /** Does nothing but say so if the JVM cannot trace, or if it is registered already. */
    private static synchronized void register() {
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName(LockContentionMXBean.OBJECT_NAME);
            Commands commands = new Commands(server);
            if (!commands.exist()) {
                System.err.println("locktrace: this JVM cannot trace lock contention: no " + name);
            } else if (!server.isRegistered(name)) {
                server.registerMBean(new LockContention(commands), name);
            }
        } catch (JMException | RuntimeException e) {
            System.err.println("locktrace: no MBean of lock contention: " + e);
        }
    }
}
