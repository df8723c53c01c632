package scenarios;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** A call by reflection, through a native method of the JDK unless that generates an accessor. */
final class ReflectiveStep implements Step {
    private static final Method PASS;

    static {
        try {
            PASS = HandleStep.class.getDeclaredMethod("pass", CallPlan.class, int.class);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public long call(CallPlan plan, int depth) {
        try {
            return (long) PASS.invoke(null, plan, depth);
        } catch (InvocationTargetException e) {
            throw (RuntimeException) e.getCause();
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
