package scenarios;

import java.lang.reflect.Method;

/**
 * The methods that hold and want the lock are called by reflection, through an
 * accessor class that the JDK generates after some calls.
 *
 * <pre>
 * lock   scenarios.ReflectiveCall
 * owner  scenarios.ReflectiveCall.hold leave|enter
 * owner  sun.reflect.GeneratedMethodAccessor*.invoke -
 * owner  sun.reflect.DelegatingMethodAccessorImpl.invoke -
 * owner  java.lang.reflect.Method.invoke -
 * owner  scenarios.ReflectiveCall.own own
 * waiter scenarios.ReflectiveCall.acquire wanted
 * waiter sun.reflect.GeneratedMethodAccessor*.invoke -
 * waiter sun.reflect.DelegatingMethodAccessorImpl.invoke -
 * waiter java.lang.reflect.Method.invoke -
 * waiter scenarios.ReflectiveCall.want want
 * </pre>
 */
final class ReflectiveCall implements Scenario {
    private final Method hold = method("hold", Held.class);
    private final Method acquire = method("acquire");
    private int acquired;

    @Override
    public void own(Held held) throws ReflectiveOperationException {
        hold.invoke(this, held); // @own
    }

    @Override
    public void want() throws ReflectiveOperationException {
        acquire.invoke(this); // @want
    }

    synchronized void hold(Held held) {
        held.run(); // @enter
    } // @leave

    synchronized void acquire() {
        acquired++; // @wanted
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            return ReflectiveCall.class.getDeclaredMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }
}
