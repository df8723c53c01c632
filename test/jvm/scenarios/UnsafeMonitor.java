package scenarios;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/**
 * Code locks with {@code Unsafe.monitorEnter} and {@code monitorExit}.
 *
 * <pre>
 * lock   scenarios.UnsafeMonitor
 * owner  sun.misc.Unsafe.monitorExit -
 * owner  scenarios.UnsafeMonitor.own exit
 * waiter sun.misc.Unsafe.monitorEnter -
 * waiter scenarios.UnsafeMonitor.want want
 * </pre>
 */
final class UnsafeMonitor implements Scenario {
    private static final Unsafe UNSAFE = theUnsafe();

    @Override
    @SuppressWarnings("deprecation")
    public void own(Held held) {
        UNSAFE.monitorEnter(this);
        held.run();
        UNSAFE.monitorExit(this); // @exit
    }

    @Override
    @SuppressWarnings("deprecation")
    public void want() {
        UNSAFE.monitorEnter(this); // @want
        UNSAFE.monitorExit(this);
    }

    static Unsafe theUnsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
