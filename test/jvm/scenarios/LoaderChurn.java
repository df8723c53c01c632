package scenarios;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Class loaders come and go, each with a class of another name, whose method
 * that locks has another name, too. Some of them are compiled, as far as there is room. Two threads block
 * each other on an instance, and all that is forgotten.
 *
 * <p>Argument: the number of loaders. With {@link Redefinition} as Java agent each
 * class is redefined while both threads are in its methods.
 *
 * <p>The trace must show for each {@code ChurnedNNNNN} a wait of "main" and one of
 * "contender" on it, in {@code ChurnedNNNNN.lockNNNNN} called by {@code
 * ChurnedNNNNN.accept}; and if the owner is known, it was the other one, in the
 * same methods.
 *
 * <p>Prints {@code unloaded COUNT}: how many of the loaders are gone.
 */
public final class LoaderChurn {
    private static final int ROUNDS_PER_COLLECTION = 250;

    /** The tracer, too, needs some time to clear up; it looks for what is gone every second. */
    private static final int REST_MILLIS = 1_000;

    private static final String NUMBER = "00000";
    private static final Runnable NOTHING = () -> {};

    private final Thread main = Thread.currentThread();
    private final Thread contender = new Thread(this::contend, "contender");

    /** The object that the threads contend for, in the round that has begun. */
    private Consumer<Runnable> current;

    // The number of the last round that has come so far; -1 is the end.
    private volatile int begun;
    private volatile int held;
    private volatile int entered;
    private volatile int left;

    private LoaderChurn() {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        LoaderChurn churn = new LoaderChurn();
        churn.contender.setDaemon(true);
        churn.contender.start();
        for (int round = 1; round <= rounds; round++) {
            loaders.add(new WeakReference<>(churn.contendOnce(round)));
            if (round % ROUNDS_PER_COLLECTION == 0) {
                System.gc();
                Thread.sleep(REST_MILLIS);
            }
        }
        churn.begun = -1;
        churn.contender.join();
        System.gc();
        long unloaded = loaders.stream().filter(loader -> loader.get() == null).count();
        System.out.println("unloaded " + unloaded);
    }

    private ClassLoader contendOnce(int round) throws ReflectiveOperationException {
        String number = String.format("%05d", round);
        Class<?> type = new OneClassLoader().define(Compilation.renamed("Churned00000", NUMBER, number));
        if (round % 8 == 0) {
            Compilation.C1.attempt(type);
        } else if (round % 32 == 1) {
            Compilation.C2.attempt(type);
        }
        @SuppressWarnings("unchecked")
        Consumer<Runnable> plugin = (Consumer<Runnable>) type.newInstance();
        current = plugin;
        begun = round;
        while (held != round) {
            Natives.pause();
        }
        plugin.accept(() -> {
            entered = round;
            Contender.awaitBlocked(contender);
            redefine(type, number);
        });
        while (left != round) {
            Natives.pause();
        }
        current = null;
        return type.getClassLoader();
    }

    private static void redefine(Class<?> type, String number) {
        if (Redefinition.instrumentation == null) {
            return;
        }
        byte[] changed = Compilation.renamed("Changed00000", "Changed00000", "Churned00000");
        byte[] bytes = Compilation.renamed(changed, NUMBER, number);
        try {
            Redefinition.instrumentation.redefineClasses(new ClassDefinition(type, bytes));
        } catch (ClassNotFoundException | UnmodifiableClassException e) {
            throw new AssertionError(e);
        }
    }

    private void contend() {
        for (int round = 1; awaitBegun(round); round++) {
            contend(round);
        }
    }

    private boolean awaitBegun(int round) {
        while (begun != round) {
            if (begun < 0) {
                return false;
            }
            Natives.pause();
        }
        return true;
    }

    private void contend(int round) {
        current.accept(() -> {
            held = round;
            Contender.awaitBlocked(main);
        });
        while (entered != round) {
            Natives.pause();
        }
        current.accept(NOTHING);
        left = round;
    }

    private static final class OneClassLoader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }
}
