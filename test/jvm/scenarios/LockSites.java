package scenarios;

import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import sun.misc.Unsafe;

/**
 * Threads contend for locks of few classes that were allocated in many places: some before the JVM has seen a
 * contended one of their class, the others later, by code that ran before as well, and again when it is compiled
 * anew. The objects have moved before they are contended. Classes whose allocations are recorded are unloaded meanwhile.
 *
 * <p>Prints of each lock how it is called, and where it was allocated, as a stack trace says that was taken on the same
 * line: {@code before LOCK} or {@code later LOCK PLACE}.
 *
 * <p>Argument: {@code at-once}, or {@code on-request}: then the program prints {@code ready} and waits for a line.
 */
public final class LockSites {
    private static final int PLACES = 10;
    private static final int WARM_UP = 30_000;
    private static final int LOADERS = 2;
    private static final long BEGIN_NANOS = 240_000_000_000L;
    private static final long BLOCKED_MILLIS = 10;

    private static final Unsafe UNSAFE = UnsafeMonitor.theUnsafe();
    private static final Constructor<Gate> GATE = constructorOfGate();

    private static volatile Object sink;

    private LockSites() {}

    /** The class of most locks. */
    static final class Gate {
        Gate() {}
    }

    /** A lock, and where it was allocated. */
    private static final class Made {
        private final Object lock;
        private final String place;

        Made(Object lock, Throwable here) {
            this(lock, here == null ? "" : here.getStackTrace()[0].toString());
        }

        Made(Object lock, String place) {
            this.lock = lock;
            this.place = place;
        }

        /** Returns the object that the trace names: threads park on an object inside of the lock. */
        Object object() {
            return lock instanceof ReentrantLock ? syncOf((ReentrantLock) lock) : lock;
        }
    }

    /** Allocates where it initializes a field. */
    private static final class Account {
        private final Made made = new Made(new Gate(), new Throwable());
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("on-request")) {
            System.out.println("ready");
            System.in.read();
        }
        warmUp();
        for (int place : new int[] {0, 4, 6}) {
            contend("before", make(place, true));
        }
        for (int place : new int[] {0, 4, 6}) {
            awaitRecorded(() -> make(place, false));
        }

        contendForAll();
        warmUp();
        contendForAll();

        for (int i = 0; i < LOADERS; i++) {
            WeakReference<ClassLoader> loader = contendForPlugin();
            while (loader.get() != null) {
                System.gc();
            }
            contend("later", make(i, true));
        }
    }

    private static void warmUp() throws Exception {
        for (int i = 0; i < WARM_UP; i++) {
            sink = make(i % PLACES, i % 1_000 < PLACES).lock;
        }
    }

    private static void contendForAll() throws Exception {
        List<Made> made = new ArrayList<>();
        for (int place = 0; place < PLACES; place++) {
            int here = place;
            made.add(awaitRecorded(() -> make(here, true)));
        }
        System.gc();
        for (Made one : made) {
            contend("later", one);
        }
    }

    private static Made make(int place, boolean tells) throws Exception {
        switch (place) {
            case 0:
                return new Made(new Gate(), tells ? new Throwable() : null);
            case 1:
                return new Made(new Gate(), tells ? new Throwable() : null);
            case 2:
                return new Made(GATE.newInstance(), tells ? new Throwable() : null);
            case 3:
                return new Made(UNSAFE.allocateInstance(Gate.class), tells ? new Throwable() : null);
            case 4:
                return new Made(new Object(), tells ? new Throwable() : null);
            case 5:
                return new Made(new Object(), tells ? new Throwable() : null);
            case 6:
                return new Made(new ReentrantLock(), tells ? new Throwable() : null);
            case 7:
                return new Made(new ReentrantLock(), tells ? new Throwable() : null);
            case 8:
                // Native code has no lines.
                return new Made(Natives.newInstance(Gate.class), "scenarios.Natives.newInstance(Natives.java)");
            default:
                return new Account().made;
        }
    }

    /** Two locks of a class that nothing refers to any more afterwards. Returns its loader. */
    private static WeakReference<ClassLoader> contendForPlugin() throws Exception {
        URL classes = LockSites.class.getProtectionDomain().getCodeSource().getLocation();
        ClassLoader loader = new URLClassLoader(new URL[] {classes}, null);
        Class<?> type = loader.loadClass("scenarios.Plugin");
        contend("before", new Made(type.newInstance(), ""));
        awaitRecorded(() -> new Made(type.newInstance(), ""));
        contend("later", new Made(type.newInstance(), new Throwable()));
        return new WeakReference<>(loader);
    }

    /**
     * Allocates until the JVM records it: then a new object has a hash code. Code that was being compiled when the JVM
     * began to record a class does not record it until the JVM discards that code, about a second later.
     */
    private static Made awaitRecorded(Callable<Made> make) throws Exception {
        long end = System.nanoTime() + BEGIN_NANOS;
        while (System.nanoTime() <= end) {
            Made made = make.call();
            if (MarkWord.isHashed(made.object())) {
                return made;
            }
            Thread.sleep(1);
        }
        throw new AssertionError("allocations are not recorded");
    }

    private static void contend(String when, Made made) throws InterruptedException {
        Thread waiter = new Thread(() -> {
            acquire(made.lock, null);
        }, "waiter");
        acquire(made.lock, waiter);
        waiter.join();
        Object object = made.object();
        String name = object.getClass().getName() + '@' + Integer.toHexString(System.identityHashCode(object));
        System.out.println((when + ' ' + name + ' ' + made.place).trim());
    }

    private static void acquire(Object lock, Thread waiter) {
        if (lock instanceof ReentrantLock) {
            ((ReentrantLock) lock).lock();
            try {
                block(waiter);
            } finally {
                ((ReentrantLock) lock).unlock();
            }
        } else {
            synchronized (lock) {
                block(waiter);
            }
        }
    }

    /** Lets the thread wait for the lock that the caller holds. */
    private static void block(Thread waiter) {
        if (waiter == null) {
            return;
        }
        waiter.start();
        try {
            while (waiter.getState() != Thread.State.BLOCKED && waiter.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            Thread.sleep(BLOCKED_MILLIS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Constructor<Gate> constructorOfGate() {
        try {
            return Gate.class.getDeclaredConstructor();
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private static Object syncOf(ReentrantLock lock) {
        try {
            Field sync = ReentrantLock.class.getDeclaredField("sync");
            sync.setAccessible(true);
            return sync.get(lock);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
