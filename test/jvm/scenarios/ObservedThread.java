package scenarios;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * A thread that can be seen asleep in the operating system.
 *
 * <p>The JVM says that a thread is blocked, or waiting, before the tracer takes the time of that, and
 * the thread may lose its processor in between for as long as others keep it. When it sleeps it has
 * passed both.
 */
final class ObservedThread extends Thread {
    private volatile Path statistics;

    ObservedThread(Runnable target, String name) {
        super(target, name);
    }

    @Override
    public void run() {
        try {
            // Not of File, which remembers what a path was in another thread.
            statistics = Paths.get("/proc/thread-self").toRealPath().resolve("stat");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        super.run();
    }

    /** Returns whether it sleeps in this state; only true if it does not leave the state
     * meanwhile. */
    boolean isAsleep(State state) {
        return statistics != null && getState() == state && systemState() == 'S';
    }

    /** See proc_pid_stat(5): it follows the name, which is in parentheses and may hold others. */
    private char systemState() {
        try {
            String line = new String(Files.readAllBytes(statistics), StandardCharsets.UTF_8);
            return line.charAt(line.lastIndexOf(')') + 2);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
