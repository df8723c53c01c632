package scenarios;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

/** A call through a method handle, whose own frames are hidden. */
final class HandleStep implements Step {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final MethodType TYPE = MethodType.methodType(long.class, CallPlan.class, int.class);
    private static final MethodHandle PASS = find("pass", TYPE);

    /** The handles: how each of them is made. */
    enum Form {
        DIRECT {
            @Override
            MethodHandle make() {
                return PASS;
            }
        },
        BOUND {
            @Override
            MethodHandle make() throws ReflectiveOperationException {
                MethodHandle call = LOOKUP.findVirtual(HandleStep.class, "call", TYPE);
                MethodHandle bound = call.bindTo(new HandleStep(PASS));
                MethodHandle increment = find("same", MethodType.methodType(long.class, long.class));
                return MethodHandles.filterReturnValue(bound, increment);
            }
        },
        GUARDED {
            @Override
            MethodHandle make() {
                MethodHandle test = find("isEven", TYPE.changeReturnType(boolean.class));
                return MethodHandles.guardWithTest(test, PASS, find("passAgain", TYPE));
            }
        },
        CATCHING {
            @Override
            MethodHandle make() {
                MethodHandle handler = find("handle", TYPE.insertParameterTypes(0, RuntimeException.class));
                return MethodHandles.catchException(PASS, RuntimeException.class, handler);
            }
        },
        SPREAD {
            @Override
            MethodHandle make() {
                return PASS.asSpreader(Object[].class, 2).asCollector(Object[].class, 2).asType(TYPE);
            }
        },
        FOLDED {
            @Override
            MethodHandle make() {
                MethodHandle first = find("meet", TYPE.changeReturnType(void.class));
                return MethodHandles.foldArguments(PASS, first);
            }
        },
        CALL_SITE {
            @Override
            MethodHandle make() {
                return new MutableCallSite(PASS).dynamicInvoker();
            }
        };

        abstract MethodHandle make() throws ReflectiveOperationException;
    }

    private final MethodHandle handle;

    private HandleStep(MethodHandle handle) {
        this.handle = handle;
    }

    static Step of(Form form) {
        try {
            return new HandleStep(form.make());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The same as a lambda expression. */
    static Step lambda() {
        return HandleStep::pass;
    }

    @Override
    public long call(CallPlan plan, int depth) {
        try {
            return (long) handle.invokeExact(plan, depth);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Runs the part of each step that is more than one frame. */
    static long pass(CallPlan plan, int depth) {
        plan.arriving(depth).meet();
        long length = plan.isEnd(depth) ? plan.end(depth) : plan.step(depth + 1).call(plan, depth + 1);
        plan.leaving(depth).meet();
        return length / plan.divisor(depth) + 1;
    }

    private static long passAgain(CallPlan plan, int depth) {
        return pass(plan, depth);
    }

    private static boolean isEven(CallPlan plan, int depth) {
        return depth % 2 == 0;
    }

    private static long handle(RuntimeException exception, CallPlan plan, int depth) {
        plan.handling(depth).meet();
        return plan.caught(depth, exception) + 1;
    }

    private static void meet(CallPlan plan, int depth) {
        plan.arriving(depth).meet();
    }

    private static long same(long length) {
        return length;
    }

    private static MethodHandle find(String name, MethodType type) {
        try {
            return LOOKUP.findStatic(HandleStep.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
