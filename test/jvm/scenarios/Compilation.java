package scenarios;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sun.hotspot.WhiteBox;
import sun.misc.Unsafe;

/**
 * A way to execute that single methods are kept to, whatever the compilers
 * would do: interpreted, or compiled at one level. Needs -XX:+WhiteBoxAPI.
 */
enum Compilation {
    INTERPRETED('0'),
    C1('1'),
    C1_PROFILED('3'),
    C2('4');

    private static final WhiteBox WHITE_BOX = new WhiteBox();
    private static final Unsafe UNSAFE = UnsafeMonitor.theUnsafe();
    private static final int ALL_LEVELS = -2;
    private static final int FROM_THE_START = -1;
    private static final int ATTEMPTS = 3;

    private final char digit;

    Compilation(char digit) {
        this.digit = digit;
    }

    /**
     * Defines a class of its own for this way to execute: the code of the class {@code template},
     * whose name ends with a zero, which is replaced by the level.
     */
    Class<?> define(String template) {
        return define(template, template.substring(0, template.length() - 1) + digit);
    }

    /** Defines a class with another one's code and a name of the same length, in the same loader. */
    static Class<?> define(String template, String name) {
        return template.equals(name) ? load(template) : define(template, template, name);
    }

    /** Defines a class with another one's code, in which all occurrences of a text are replaced by one of the same length. */
    static Class<?> define(String template, String from, String to) {
        byte[] bytes = renamed(template, from, to);
        Class<?> self = Compilation.class;
        return UNSAFE.defineClass(null, bytes, 0, bytes.length, self.getClassLoader(), self.getProtectionDomain());
    }

    /** The class file of a scenario, in which all occurrences of a text are replaced by one of the same length. */
    static byte[] renamed(String template, String from, String to) {
        try {
            return renamed(MemoryPressure.read("scenarios/" + template + ".class"), from, to);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static byte[] renamed(byte[] bytes, String from, String to) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        return text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName("scenarios." + name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    /** Sees to it that the methods of a class run this way from their next call on, each in a frame of its own. */
    void apply(Class<?> type) {
        if (!attempt(type)) {
            throw new AssertionError(type + " cannot be compiled as " + this);
        }
    }

    /** Does so if compiled code fits into the code cache. */
    boolean attempt(Class<?> type) {
        boolean succeeds = true;
        for (Method method : type.getDeclaredMethods()) {
            WHITE_BOX.testSetDontInlineMethod(method, true);
            if (this == INTERPRETED) {
                WHITE_BOX.makeMethodNotCompilable(method, ALL_LEVELS, false);
                WHITE_BOX.makeMethodNotCompilable(method, ALL_LEVELS, true);
            } else {
                succeeds &= compile(method);
            }
        }
        return succeeds;
    }

    private boolean compile(Method method) {
        int level = available();
        if (level == 0 || WHITE_BOX.getMethodCompilationLevel(method, false) == level) {
            return true;
        }
        WHITE_BOX.deoptimizeMethod(method, false);
        int found = 0;
        // Fails where a class that the code depends on is loaded or redefined meanwhile.
        for (int attempt = 0; attempt < ATTEMPTS && found == 0; attempt++) {
            WHITE_BOX.compile(method, level, FROM_THE_START);
            found = WHITE_BOX.getMethodCompilationLevel(method, false);
        }
        // C1 may profile less than requested.
        return found != 0 && (found == 4) == (level == 4);
    }

    /** The level to compile at: this one, or what the JVM's flags leave instead. */
    private int available() {
        int level = digit - '0';
        if (!WHITE_BOX.getBooleanVMFlag("UseCompiler")) {
            return 0;
        }
        if (!WHITE_BOX.getBooleanVMFlag("TieredCompilation")) {
            return 4;
        }
        return (int) Math.min(level, WHITE_BOX.getIntxVMFlag("TieredStopAtLevel"));
    }

    /** Forbids that methods of a class are inlined into others. */
    static void keepApart(Class<?> type) {
        for (Method method : type.getDeclaredMethods()) {
            WHITE_BOX.testSetDontInlineMethod(method, true);
        }
    }

    /** Some method of a class has compiled code that calls may use. */
    static boolean isCompiled(Class<?> type) {
        Method[] methods = type.getDeclaredMethods();
        return Arrays.stream(methods).anyMatch(method -> WHITE_BOX.isMethodCompiled(method, false));
    }

    /** Throws away all compiled code that is on a stack. */
    static void throwAway() {
        WHITE_BOX.deoptimizeAll();
    }
}
