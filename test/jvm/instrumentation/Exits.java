package instrumentation;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntBiFunction;

/**
 * Releases monitors in all the ways that Java has, says before each release what it is going to
 * release, and prints that and the arguments of the hooks.
 *
 * <p>{@code Exits notes}: "expected OBJECT METHOD" or "noted OBJECT SITE", in order. {@code Exits
 * failures}: runs the same while all hooks throw. {@code Exits hot ROUNDS}: runs it often, and prints
 * how often it has released monitors.
 */
final class Exits {
    private static final Object A = new Object();
    private static final Object B = new Object();
    private static final Object C = new Object();

    /** The next releases, by name of the object and of the method. */
    private static final List<String> EXPECTED = new ArrayList<>();

    private static long releases;
    private static boolean isHot;

    private Exits() {}

    public static void main(String[] arguments) throws Exception {
        field("isStarted").set(null, true);
        switch (arguments[0]) {
            case "notes":
                field("noted").set(null, Thread.currentThread());
                runAll();
                field("noted").set(null, null);
                printNotes();
                break;
            case "failures":
                failAll();
                break;
            case "hot":
                isHot = true;
                for (int i = Integer.parseInt(arguments[1]); i > 0; i--) {
                    runAll();
                }
                System.out.println("releases " + releases);
                System.out.println("blockExits " + field("blockExits").get(null));
                System.out.println("methodExits " + field("methodExits").get(null));
                System.out.println("wrongExits " + field("wrongExits").get(null));
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static Field field(String name) throws Exception {
        return Class.forName("java.lang.InstrumentedExits").getField(name);
    }

    private static void printNotes() throws Exception {
        Object[] objects = (Object[]) field("OBJECTS").get(null);
        int[] sites = (int[]) field("SITES").get(null);
        int count = (Integer) field("count").get(null);
        for (String expected : EXPECTED) {
            System.out.println("expected " + expected);
        }
        for (int i = 0; i < count; i++) {
            System.out.println("noted " + name(objects[i]) + " " + sites[i]);
        }
    }

    private static String name(Object object) {
        if (object == null) {
            return "released";
        }
        if (object == A || object == B || object == C) {
            return object == A ? "A" : object == B ? "B" : "C";
        }
        return object instanceof Class ? "class" : object.getClass().getSimpleName();
    }

    /** Says that a monitor is released next, by a method. */
    private static void next(Object object, String method) {
        releases++;
        if (!isHot) {
            EXPECTED.add(name(object) + " " + method);
        }
    }

    private static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure() {
            super("expected", null, false, false);
        }
    }

    /** Blocks as other compilers write them, in a class that {@code oracle.Shapes} writes. */
    public interface Shape {
        int kotlin(Object lock, Runnable body);

        int scala(Object lock, Runnable body);

        int clojure(Object lock, Runnable body);

        int shared(Object lock, Runnable body);

        int proguard(Object lock, Runnable body);
    }

    private static final Shape SHAPES = shapes();

    private static Shape shapes() {
        try {
            return (Shape) Class.forName("instrumentation.Shapes").getConstructor().newInstance();
        } catch (ReflectiveOperationException exception) {
            throw new AssertionError(exception);
        }
    }

    private static void runShapes() {
        SHAPES.kotlin(A, () -> next(A, "kotlin"));
        SHAPES.scala(A, () -> next(A, "scala"));
        SHAPES.clojure(A, () -> next(A, "clojure"));
        SHAPES.shared(A, () -> next(A, "shared"));
        SHAPES.proguard(A, () -> nextOfBoth());
        throwFrom(SHAPES::kotlin, () -> next(A, "kotlin"));
        throwFrom(SHAPES::clojure, () -> next(A, "clojure"));
        throwFrom(SHAPES::shared, () -> next(A, "shared"));
        int caught = SHAPES.scala(A, throwing(() -> next(A, "scala")));
        caught += SHAPES.proguard(A, throwing(() -> nextOfBoth()));
        if (caught != 4) {
            throw new AssertionError(caught);
        }
    }

    private static void nextOfBoth() {
        next(A, "proguard");
        next(SHAPES, "proguard");
    }

    private static Runnable throwing(Runnable body) {
        return () -> {
            body.run();
            fail();
        };
    }

    private static void throwFrom(ToIntBiFunction<Object, Runnable> shape, Runnable body) {
        try {
            shape.applyAsInt(A, throwing(body));
        } catch (Failure failure) {
            return;
        }
        throw new AssertionError("nothing was thrown");
    }

    private static void runAll() {
        runShapes();
        nested();
        returns(1);
        returns(2);
        returns(3);
        exceptions();
        loops();
        switches();
        finallies();
        inSynchronized();
        recursion(3);
        new Constructed(A).lambdas();
        Methods methods = new Methods();
        methods.returns();
        methods.exceptions();
        methods.branches(1);
        methods.branches(-1);
        Methods.staticReturns();
        Methods.staticExceptions();
        manyVariables(1, 2L, 3.0, "four");
    }

    private static void nested() {
        synchronized (A) {
            synchronized (B) {
                synchronized (C) {
                    next(C, "nested");
                }
                next(B, "nested");
            }
            synchronized (B) {
                next(B, "nested");
            }
            next(A, "nested");
        }
    }

    private static Object returns(int how) {
        synchronized (A) {
            if (how == 1) {
                next(A, "returns");
                return 1L;
            }
            synchronized (B) {
                if (how == 2) {
                    next(B, "returns");
                    next(A, "returns");
                    return 2.0;
                }
                next(B, "returns");
            }
            next(A, "returns");
        }
        return "";
    }

    private static void exceptions() {
        try {
            synchronized (A) {
                next(A, "exceptions");
                throw new Failure();
            }
        } catch (Failure failure) {
            releases += 0;
        }
        try {
            synchronized (A) {
                synchronized (B) {
                    next(B, "exceptions");
                    next(A, "exceptions");
                    fail();
                }
            }
        } catch (Failure failure) {
            synchronized (C) {
                next(C, "exceptions");
            }
        }
        synchronized (A) {
            try {
                synchronized (B) {
                    next(B, "exceptions");
                    fail();
                }
            } catch (Failure failure) {
                synchronized (B) {
                    next(B, "exceptions");
                }
            }
            next(A, "exceptions");
        }
    }

    private static void fail() {
        throw new Failure();
    }

    private static void loops() {
        outer:
        for (int i = 0; i < 4; i++) {
            synchronized (A) {
                if (i == 1) {
                    next(A, "loops");
                    continue;
                }
                for (int j = 0; ; j++) {
                    synchronized (B) {
                        if (j == 2) {
                            next(B, "loops");
                            break;
                        }
                        if (i == 3) {
                            next(B, "loops");
                            next(A, "loops");
                            break outer;
                        }
                        next(B, "loops");
                    }
                }
                next(A, "loops");
            }
        }
    }

    private static void switches() {
        for (int i = 0; i < 5; i++) {
            synchronized (A) {
                switch (i) {
                    case 0:
                        next(A, "switches");
                        continue;
                    case 1:
                        synchronized (B) {
                            next(B, "switches");
                        }
                        break;
                    case 2:
                    case 3:
                        synchronized (C) {
                            switch (i * 1000) {
                                case 2000:
                                    next(C, "switches");
                                    next(A, "switches");
                                    continue;
                                case -70_000:
                                default:
                                    break;
                            }
                            next(C, "switches");
                        }
                        break;
                    default:
                        break;
                }
                switch (String.valueOf(i)) {
                    case "4":
                        synchronized (C) {
                            next(C, "switches");
                        }
                        break;
                    default:
                        break;
                }
                next(A, "switches");
            }
        }
    }

    private static void finallies() {
        try {
            synchronized (A) {
                try {
                    synchronized (B) {
                        next(B, "finallies");
                        fail();
                    }
                } finally {
                    synchronized (C) {
                        next(C, "finallies");
                    }
                    next(A, "finallies");
                }
            }
        } catch (Failure failure) {
            releases += 0;
        } finally {
            synchronized (B) {
                next(B, "finallies");
            }
        }
    }

    private static void inSynchronized() {
        synchronized (Exits.class) {
            synchronized (Exits.class) {
                next(Exits.class, "inSynchronized");
            }
            next(Exits.class, "inSynchronized");
        }
    }

    private static int recursion(int depth) {
        synchronized (A) {
            int below = depth == 0 ? 0 : recursion(depth - 1);
            next(A, "recursion");
            return below + 1;
        }
    }

    /** A switch after releases, variables of all sizes, and frames of all kinds. */
    private static double manyVariables(int i, long l, double d, Object o) {
        double sum = d;
        try {
            synchronized (o) {
                for (long n = l; n > 0; n--) {
                    float f = n * 2f;
                    synchronized (B) {
                        sum += f;
                        next(B, "manyVariables");
                    }
                    switch ((int) n) {
                        case 1:
                            sum++;
                            break;
                        case 2:
                            sum--;
                            break;
                        default:
                            sum += i;
                    }
                }
                next(o, "manyVariables");
                fail();
            }
        } catch (Failure failure) {
            synchronized (C) {
                next(C, "manyVariables");
                return sum;
            }
        }
        return 0;
    }

    /** A constructor with blocks. */
    private static final class Constructed {
        private final Object lock;

        Constructed(Object lock) {
            this.lock = lock;
            synchronized (lock) {
                synchronized (this) {
                    next(this, "<init>");
                }
                next(lock, "<init>");
            }
        }

        void lambdas() {
            Runnable runnable =
                    () -> {
                        synchronized (lock) {
                            next(lock, "lambda$lambdas$0");
                        }
                    };
            runnable.run();
        }
    }

    /** Synchronized methods of all types. */
    private static final class Methods {
        void returns() {
            releases += 0;
            nothing();
            integer();
            longInteger();
            single();
            twice();
            object(true);
            object(false);
        }

        private synchronized void nothing() {
            next(this, "nothing");
        }

        private synchronized int integer() {
            next(this, "integer");
            return 1;
        }

        private synchronized long longInteger() {
            next(this, "longInteger");
            return 2;
        }

        private synchronized float single() {
            next(this, "single");
            return 3;
        }

        private synchronized double twice() {
            synchronized (A) {
                next(A, "twice");
                next(this, "twice");
                return 4;
            }
        }

        private synchronized Object object(boolean first) {
            if (first) {
                next(this, "object");
                return this;
            }
            next(this, "object");
            return null;
        }

        void exceptions() {
            try {
                throwing();
            } catch (Failure failure) {
                releases += 0;
            }
            try {
                throwingFromBlock(1);
            } catch (Failure failure) {
                releases += 0;
            }
            catching();
        }

        private synchronized void throwing() {
            next(this, "throwing");
            fail();
        }

        private synchronized int throwingFromBlock(int value) {
            int sum = value;
            try {
                synchronized (A) {
                    next(A, "throwingFromBlock");
                    fail();
                }
            } finally {
                sum++;
                synchronized (B) {
                    next(B, "throwingFromBlock");
                }
                next(this, "throwingFromBlock");
            }
            return sum;
        }

        private synchronized void catching() {
            try {
                fail();
            } catch (Failure failure) {
                next(this, "catching");
                return;
            }
            releases += 0;
        }

        private synchronized int branches(int value) {
            while (value > 0) {
                if (value == 1) {
                    next(this, "branches");
                    return 1;
                }
                value--;
            }
            next(this, "branches");
            return value < 0 ? 2 : 3;
        }

        static void staticReturns() {
            staticNothing();
            staticLongInteger(5);
        }

        private static synchronized void staticNothing() {
            next(Methods.class, "staticNothing");
        }

        private static synchronized long staticLongInteger(long value) {
            synchronized (A) {
                next(A, "staticLongInteger");
            }
            next(Methods.class, "staticLongInteger");
            return value;
        }

        static void staticExceptions() {
            try {
                staticThrowing();
            } catch (Failure failure) {
                releases += 0;
            }
        }

        private static synchronized void staticThrowing() {
            next(Methods.class, "staticThrowing");
            fail();
        }
    }

    /** Each hook throws, as where the stack ends: all monitors are released nevertheless. */
    private static void failAll() throws Exception {
        Methods methods = new Methods();
        Runnable nothing = () -> {};
        Runnable[] all = {
            Exits::nested,
            () -> returns(1),
            () -> returns(2),
            () -> returns(3),
            Exits::exceptions,
            Exits::loops,
            Exits::switches,
            Exits::finallies,
            Exits::inSynchronized,
            () -> recursion(3),
            () -> new Constructed(A),
            methods::returns,
            methods::exceptions,
            Methods::staticReturns,
            Methods::staticExceptions,
            () -> manyVariables(1, 2L, 3.0, "four"),
            () -> SHAPES.kotlin(A, nothing),
            () -> SHAPES.scala(A, nothing),
            () -> SHAPES.clojure(A, nothing),
            () -> SHAPES.shared(A, nothing),
            () -> SHAPES.proguard(A, nothing),
            () -> SHAPES.kotlin(A, Exits::fail),
            () -> SHAPES.scala(A, Exits::fail),
            () -> SHAPES.clojure(A, Exits::fail),
            () -> SHAPES.shared(A, Exits::fail),
            () -> SHAPES.proguard(A, Exits::fail),
        };
        Object[] monitors = {A, B, C, Exits.class, Methods.class, methods, "four", SHAPES};
        for (int i = 0; i < all.length; i++) {
            StackOverflowError failure = new StackOverflowError("by the hook");
            field("count").set(null, 0);
            field("failure").set(null, failure);
            field("noted").set(null, Thread.currentThread());
            Throwable thrown = null;
            try {
                all[i].run();
            } catch (Throwable throwable) {
                thrown = throwable;
            }
            field("noted").set(null, null);
            field("failure").set(null, null);
            if (thrown != failure) {
                System.out.println(i + " has thrown " + thrown);
            }
            for (Object monitor : monitors) {
                if (Thread.holdsLock(monitor)) {
                    System.out.println(i + " still owns " + name(monitor));
                }
            }
        }
        System.out.println("failed " + all.length + " times");
    }
}
