package scenarios;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Classes come and go while memory is short: in each round one of a new name is
 * defined by a loader of its own, compiled, contended for, and forgotten. Others
 * soon lie at the same addresses.
 *
 * <p>Argument: the number of rounds.
 *
 * <p>The trace must show one wait a round on the lock that the program prints,
 * {@code lock CLASS HEX}, where both threads are in {@code accept} of that
 * class, whose code is {@link Plugin}'s.
 *
 * <p>Prints {@code unloaded COUNT}: how many of the loaders are gone.
 */
public final class MemoryPressure {
    private static final int WARM_UP = 12_000;
    private static final int ROUNDS_PER_COLLECTION = 5;
    private static final String TEMPLATE = "scenarios/Plugin";

    private MemoryPressure() {}

    public static void main(String[] args) throws Exception {
        String template = new String(read(TEMPLATE + ".class"), StandardCharsets.ISO_8859_1);
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        int rounds = Integer.parseInt(args[0]);
        for (int round = 0; round < rounds; round++) {
            // Of the same length, as the class file has it in front.
            String name = String.format("scenarios/P%05d", round);
            byte[] bytes = template.replace(TEMPLATE, name).getBytes(StandardCharsets.ISO_8859_1);
            Class<?> plugin = new OneClassLoader().define(bytes);
            loaders.add(new WeakReference<>(plugin.getClassLoader()));
            contend(plugin);
            if (round % ROUNDS_PER_COLLECTION == 0) {
                exhaustHeap();
            }
        }
        long unloaded = loaders.stream().filter(loader -> loader.get() == null).count();
        System.out.println("unloaded " + unloaded);
    }

    private static void contend(Class<?> type) throws Exception {
        @SuppressWarnings("unchecked")
        Consumer<Runnable> plugin = (Consumer<Runnable>) type.newInstance();
        for (int i = 0; i < WARM_UP; i++) {
            plugin.accept(Held.NOT_AT_ALL);
        }
        Contend.block(new Scenario() {
            @Override
            public void own(Held held) {
                plugin.accept(held);
            }

            @Override
            public void want() {
                plugin.accept(Held.NOT_AT_ALL);
            }
        });
        System.out.println(HashCodes.lockLine(plugin));
    }

    /** Has the collector do all it can. */
    private static void exhaustHeap() {
        List<long[]> hoard = new ArrayList<>();
        try {
            while (true) {
                hoard.add(new long[16 * 1024]);
            }
        } catch (OutOfMemoryError expected) {
            hoard.clear();
        }
    }

    /** Reads a file of the class path. */
    static byte[] read(String resource) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = ClassLoader.getSystemResourceAsStream(resource)) {
            for (int next = in.read(); next >= 0; next = in.read()) {
                bytes.write(next);
            }
        }
        return bytes.toByteArray();
    }

    private static final class OneClassLoader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }
}
