package scenarios;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/**
 * Two threads wait for each other's holds of 30 milliseconds, in a JVM that has inflated many monitors
 * once: it looks at all of them in each of its stops.
 *
 * <p>Arguments: how many monitors, for how many seconds. The line {@code begin} comes before the first wait.
 *
 * <p>The tracer may stop all threads for its samples of owners as long as its budget says, however long the
 * JVM's own part of such a stop is.
 */
public final class OnceInflated {
    private static final int HOLD_MILLIS = 30;

    private static final Object LOCK = new Object();

    private static volatile boolean enough;

    private OnceInflated() {}

    public static void main(String[] args) throws Exception {
        inflate(Integer.parseInt(args[0]));
        System.out.println("begin");
        Thread[] holders = {new Thread(OnceInflated::holdAgainAndAgain), new Thread(OnceInflated::holdAgainAndAgain)};
        for (Thread holder : holders) {
            holder.start();
        }
        Thread.sleep(Long.parseLong(args[1]) * 1000);
        enough = true;
        for (Thread holder : holders) {
            holder.join();
        }
    }

    @SuppressWarnings("deprecation")
    private static void inflate(int count) throws ReflectiveOperationException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        Object[] locks = new Object[count];
        for (int i = 0; i < count; i++) {
            locks[i] = new Object();
            unsafe.monitorEnter(locks[i]);
            // A stack lock has no place for it.
            locks[i].hashCode();
        }
        for (Object lock : locks) {
            unsafe.monitorExit(lock);
        }
        // The first collection deflates them, which takes longer than to look at them.
        System.gc();
    }

    private static void holdAgainAndAgain() {
        while (!enough) {
            synchronized (LOCK) {
                sleep();
            }
            Thread.yield();
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(HOLD_MILLIS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
