package tools.locktrace.jmh;

import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** The result of a process. */
final class Finished {
    final int code;
    final String stderr;

    private Finished(int code, String stderr) {
        this.code = code;
        this.stderr = stderr;
    }

    /** Takes the standard output of a process. */
    interface Consumer {
        void accept(Reader stdout) throws IOException;
    }

    /** Runs a command whose standard output does not matter. */
    static Finished run(String... command) throws IOException {
        return run(stdout -> drain(stdout), command);
    }

    /** Runs a command to its end. */
    static Finished run(Consumer consumer, String... command) throws IOException {
        File stderr = File.createTempFile("locktrace-", ".stderr");
        try {
            Process process = new ProcessBuilder(command).redirectError(stderr).start();
            process.getOutputStream().close();
            try (Reader stdout = new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)) {
                consumer.accept(stdout);
            }
            int code = process.waitFor();
            return new Finished(code, new String(Files.readAllBytes(stderr.toPath()), StandardCharsets.UTF_8));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + command[0] + " ran");
        } finally {
            stderr.delete();
        }
    }

    private static void drain(Reader reader) throws IOException {
        char[] buffer = new char[4096];
        while (reader.read(buffer) >= 0) {
            // Nobody wants it.
        }
    }

    /** The first line of standard error. */
    String firstComplaint() {
        return stderr.trim().split("\n", 2)[0];
    }
}
