package scenarios;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The block that is left calls through a method handle that C2 knows only when it has
 * parsed the method: it inlines what that calls afterwards, and must not take the
 * place of that call for the position of what it makes last, the release of the lock.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.LateInlining.own leave
 * waiter scenarios.LateInlining.want wanted
 * </pre>
 */
final class LateInlining implements Scenario {
    private static final MethodHandle ADD = handle();

    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) throws Exception {
        synchronized (lock) {
            held.run();
            addTwice();
        } // @leave
    }

    private void addTwice() throws Exception {
        MethodHandle add = ADD;
        try {
            for (int i = 0; i < 2; i++) {
                add.invokeExact(this, i);
                add = ADD;
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }

    private void add(int number) {
        acquired += number;
    }

    private static MethodHandle handle() {
        try {
            MethodType type = MethodType.methodType(void.class, int.class);
            return MethodHandles.lookup().findVirtual(LateInlining.class, "add", type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
