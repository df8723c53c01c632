package sun.hotspot;

import java.lang.reflect.Executable;

/**
 * The JVM's interface for its tests, under -XX:+WhiteBoxAPI. The JVM demands this name and the boot
 * class path, and notes on standard output which methods of its own are not declared here.
 *
 * <p>The levels are those of tiered compilation: 1 to 3 are C1's, 4 is C2's;
 * -2 stands for all.
 */
public final class WhiteBox {
    static {
        registerNatives();
    }

    private static native void registerNatives();

    /** Has the compilers treat the method as a call that they never inline. Returns what was before. */
    public native boolean testSetDontInlineMethod(Executable method, boolean never);

    /** Forbids a level for a method, as an entry or, if {@code onStack}, in the middle of a loop. */
    public native void makeMethodNotCompilable(Executable method, int level, boolean onStack);

    /** Compiles a method, at once under -Xbatch. */
    public boolean compile(Executable method, int level, int bci) {
        try {
            return enqueueMethodForCompilation0(method, level, bci);
        } catch (UnsatisfiedLinkError e) {
            return enqueueMethodForCompilation(method, level, bci);
        }
    }

    private native boolean enqueueMethodForCompilation0(Executable method, int level, int bci);

    /** The same in older updates, 8u45 for example. */
    private native boolean enqueueMethodForCompilation(Executable method, int level, int bci);

    /** The level of a method's current code, 0 if it is interpreted. */
    public native int getMethodCompilationLevel(Executable method, boolean onStack);

    /** There is compiled code of a method that calls may use. */
    public native boolean isMethodCompiled(Executable method, boolean onStack);

    /** Throws a method's code away, also where it is on a stack. */
    public native int deoptimizeMethod(Executable method, boolean onStack);

    /** Throws away all code that is on a stack. */
    public native void deoptimizeAll();

    /** The value of a JVM flag. */
    public native Boolean getBooleanVMFlag(String name);

    /** The value of a JVM flag. */
    public native Long getIntxVMFlag(String name);
}
