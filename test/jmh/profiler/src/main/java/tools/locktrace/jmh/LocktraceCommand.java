package tools.locktrace.jmh;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import java.io.File;
import java.io.IOException;
import java.io.Reader;
import org.openjdk.jmh.profile.ProfilerException;

/** The command line tool. */
public final class LocktraceCommand {
    /** The system property that names it. */
    static final String PROPERTY = "locktrace.bin";

    /** The environment variable that names it. */
    static final String VARIABLE = "LOCKTRACE_BIN";

    private static final int DONE = 0;
    private static final int DONE_IN_PART = 1;

    private static final Gson GSON = new GsonBuilder()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .create();

    private final String program;

    private LocktraceCommand(String program) {
        this.program = program;
    }

    /** The tool; {@code null} looks in the places that {@link ProfilerOptions} lists. */
    public static LocktraceCommand find(String path) throws ProfilerException {
        String program = path;
        if (program == null) {
            program = System.getProperty(PROPERTY);
        }
        if (program == null) {
            program = System.getenv().getOrDefault(VARIABLE, "locktrace");
        }
        try {
            Finished version = Finished.run(program, "--version");
            if (version.code != DONE) {
                throw new ProfilerException(program + " --version failed: " + version.stderr.trim());
            }
        } catch (IOException e) {
            throw new ProfilerException(e.getMessage() + "\nName the locktrace program: "
                    + "-prof locktrace:locktrace=PATH, or put it on the PATH.");
        }
        return new LocktraceCommand(program);
    }

    /**
     * Aggregates the contentions of a trace; the longest durations come first.
     *
     * @param by aspects, separated by commas
     */
    public Report report(File trace, String by) throws IOException {
        Report[] report = new Report[1];
        run(stdout -> report[0] = parse(stdout),
                "report", "--format", "json", "--by", by, "--top", "0", trace.getPath());
        return report[0];
    }

    /** The report for people. */
    String table(File trace, int top) throws IOException {
        StringBuilder table = new StringBuilder();
        run(stdout -> append(stdout, table), "report", "--top", String.valueOf(top), trace.getPath());
        return table.toString();
    }

    private void run(Finished.Consumer consumer, String... arguments) throws IOException {
        String[] command = new String[arguments.length + 1];
        command[0] = program;
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Finished finished;
        try {
            finished = Finished.run(consumer, command);
        } catch (JsonParseException e) {
            throw new IOException(String.join(" ", command) + ": not the expected JSON: " + e.getMessage(), e);
        }
        if (finished.code == DONE_IN_PART) {
            System.err.println(finished.stderr.trim());
        } else if (finished.code != DONE) {
            throw new IOException(String.join(" ", command) + ": " + finished.stderr.trim());
        }
    }

    private static Report parse(Reader json) {
        Report report = GSON.fromJson(json, Report.class);
        // Nothing was printed; the exit code says why.
        return report == null ? new Report() : report;
    }

    private static void append(Reader reader, StringBuilder text) throws IOException {
        char[] buffer = new char[4096];
        for (int length = reader.read(buffer); length >= 0; length = reader.read(buffer)) {
            text.append(buffer, 0, length);
        }
    }
}
