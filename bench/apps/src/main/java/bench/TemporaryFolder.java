package bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder of this JVM, deleted with all its files when closed. */
public final class TemporaryFolder implements AutoCloseable {
    private final Path path;

    public TemporaryFolder() throws IOException {
        path = Files.createTempDirectory("bench");
    }

    public Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).forEach(TemporaryFolder::delete);
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }
}
