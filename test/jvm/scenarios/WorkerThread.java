package scenarios;

import java.lang.reflect.Method;

/**
 * Threads of the kind that the property {@code scenarios.threads} names: {@code platform}, which is
 * what they are without it, or {@code virtual}, in a JVM that has those.
 */
final class WorkerThread {
    private static final boolean VIRTUAL =
            System.getProperty("scenarios.threads", "platform").equals("virtual");

    private WorkerThread() {}

    static Thread start(String name, Runnable work) {
        if (VIRTUAL) {
            return startVirtual(name, work);
        }
        Thread thread = new Thread(work, name);
        thread.start();
        return thread;
    }

    /** {@code Thread.ofVirtual().name(name).start(work)}. */
    private static Thread startVirtual(String name, Runnable work) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method named = type.getMethod("name", String.class);
            Method start = type.getMethod("start", Runnable.class);
            return (Thread) start.invoke(named.invoke(builder, name), work);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no virtual threads", e);
        }
    }
}
