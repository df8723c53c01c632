package tools.locktrace.suite.shapes;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import tools.locktrace.suite.truth.Turn;

/** Synchronized native methods; {@code src/main/native/suite.c} implements them. */
final class NativeGuards {
    static {
        load("libsuite.so");
    }

    private NativeGuards() {}

    /** Makes the natives available. */
    private static void initialize() {}

    private static void load(String library) {
        try (InputStream resource = NativeGuards.class.getClassLoader().getResourceAsStream(library)) {
            Path copy = Files.createTempFile("locktrace-", library);
            Files.copy(resource, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
            Files.delete(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A method. */
    static final class Method extends Guard {
        static {
            initialize();
        }

        @Override
        synchronized native void locked(Turn turn);
    }

    /** A static method, which locks its class. */
    static final class StaticMethod extends Guard {
        static {
            initialize();
        }

        @Override
        void locked(Turn turn) {
            lockedClass(turn);
        }

        private static synchronized native void lockedClass(Turn turn);

        @Override
        Object lock() {
            return StaticMethod.class;
        }

        @Override
        List<String> methods() {
            return Arrays.asList("lockedClass", "locked");
        }
    }
}
