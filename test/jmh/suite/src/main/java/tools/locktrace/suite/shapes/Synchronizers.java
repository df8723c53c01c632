package tools.locktrace.suite.shapes;

import java.lang.reflect.Field;

/** The blockers of threads that wait for a lock of {@code java.util.concurrent}. */
final class Synchronizers {
    private Synchronizers() {}

    /** The {@code AbstractQueuedSynchronizer} in which a lock keeps its queue. */
    static Object of(Object lock) {
        try {
            Field field = lock.getClass().getDeclaredField("sync");
            field.setAccessible(true);
            return field.get(lock);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
