package tools.locktrace.jmh;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import joptsimple.OptionException;
import joptsimple.OptionParser;
import joptsimple.OptionSet;
import joptsimple.OptionSpec;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ProfilerException;

/** The options after {@code -prof locktrace:}. */
final class ProfilerOptions {
    /** The command line tool; {@code null} to look for it. */
    final String locktrace;

    /** The number of owner methods that become results. */
    final int top;

    /** The folder for traces; {@code null} to delete them. */
    private final File directory;

    private ProfilerOptions(String locktrace, int top, File directory) {
        this.locktrace = locktrace;
        this.top = top;
        this.directory = directory;
    }

    /** Reads {@code NAME=VALUE;...}. */
    static ProfilerOptions parse(String initLine) throws ProfilerException {
        OptionParser parser = new OptionParser();
        OptionSpec<String> locktrace = parser
                .accepts("locktrace", "The locktrace program. Default: the system property "
                        + LocktraceCommand.PROPERTY + ", else the variable " + LocktraceCommand.VARIABLE
                        + ", else locktrace on the PATH.")
                .withRequiredArg().describedAs("path");
        OptionSpec<Integer> top = parser
                .accepts("top", "How many owner methods become results.")
                .withRequiredArg().ofType(Integer.class).describedAs("number").defaultsTo(3);
        OptionSpec<File> directory = parser
                .accepts("dir", "Keep the traces in this directory. Default: they are deleted.")
                .withRequiredArg().ofType(File.class).describedAs("path");
        OptionSpec<Void> help = parser.accepts("help", "Print this.").forHelp();

        try {
            OptionSet set = parser.parse(asArguments(initLine));
            if (set.has(help)) {
                StringWriter text = new StringWriter();
                parser.printHelpOn(text);
                throw new ProfilerException("-prof locktrace:NAME=VALUE;...\n" + text);
            }
            if (set.valueOf(top) < 0) {
                throw new ProfilerException("top: " + set.valueOf(top) + " is less than 0");
            }
            File kept = set.valueOf(directory);
            if (kept != null) {
                Files.createDirectories(kept.toPath());
            }
            return new ProfilerOptions(set.valueOf(locktrace), set.valueOf(top), kept);
        } catch (OptionException e) {
            throw new ProfilerException(e.getMessage());
        } catch (IOException e) {
            throw new ProfilerException("dir: cannot create " + e.getMessage());
        }
    }

    private static String[] asArguments(String initLine) {
        if (initLine.trim().isEmpty()) {
            return new String[0];
        }
        String[] words = initLine.split(";");
        for (int i = 0; i < words.length; i++) {
            words[i] = "--" + words[i].trim();
        }
        return words;
    }

    boolean keepsTraces() {
        return directory != null;
    }

    /** A file that does not exist yet, for the trace of the next fork. */
    File traceOf(BenchmarkParams params) {
        // The name with all parameters is in no file system too long for this.
        String name = params.id().replaceAll("[^A-Za-z0-9._=-]+", "-");
        name = name.substring(Math.max(0, name.length() - 120));
        try {
            if (directory == null) {
                File folder = Files.createTempDirectory("locktrace-").toFile();
                File trace = new File(folder, "trace.lct");
                // In reverse order.
                folder.deleteOnExit();
                trace.deleteOnExit();
                return trace;
            }
            File trace = File.createTempFile(name + "-", ".lct", directory);
            // The JVM writes to no file that is there.
            Files.delete(trace.toPath());
            return trace;
        } catch (IOException e) {
            throw new IllegalStateException("no file for the trace: " + e.getMessage(), e);
        }
    }
}
