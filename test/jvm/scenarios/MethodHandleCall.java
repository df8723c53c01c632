package scenarios;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The methods that hold and want the lock are called through method handles,
 * whose frames between caller and callee are hidden, as in every stack trace.
 *
 * <pre>
 * lock   scenarios.MethodHandleCall
 * owner  scenarios.MethodHandleCall.hold leave|enter
 * owner  scenarios.MethodHandleCall.own own
 * waiter scenarios.MethodHandleCall.acquire wanted
 * waiter scenarios.MethodHandleCall.want want
 * </pre>
 */
final class MethodHandleCall implements Scenario {
    private static final MethodHandle HOLD = handle("hold", Held.class);
    private static final MethodHandle ACQUIRE = handle("acquire");

    private int acquired;

    @Override
    public void own(Held held) throws Exception {
        try {
            HOLD.invokeExact(this, held); // @own
        } catch (Throwable e) {
            throw new Exception(e);
        }
    }

    @Override
    public void want() throws Exception {
        try {
            ACQUIRE.invokeExact(this); // @want
        } catch (Throwable e) {
            throw new Exception(e);
        }
    }

    private synchronized void hold(Held held) {
        held.run(); // @enter
    } // @leave

    private synchronized void acquire() {
        acquired++; // @wanted
    }

    private static MethodHandle handle(String name, Class<?>... parameters) {
        try {
            return MethodHandles.lookup().findVirtual(
                    MethodHandleCall.class, name, MethodType.methodType(void.class, parameters));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
