package tools.locktrace.suite;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import tools.locktrace.jmh.LockTraceProfiler;
import tools.locktrace.jmh.LocktraceCommand;
import tools.locktrace.suite.truth.Recorder;
import tools.locktrace.suite.truth.Truth;

/**
 * Runs the cases of a setting under JMH with the profiler, and compares each
 * trace with what the benchmark's threads noted.
 *
 * <p>Arguments: {@code quick}, {@code short} or {@code full}; the traced JDK's {@code java};
 * the {@code locktrace} program; a directory for traces; a regular expression if
 * only those cases are wanted whose name has a match. Prints the checks of each
 * case. Exits with 1 if one of them fails, and keeps that case's trace.
 */
public final class Suite {
    /** The longest time of a thread for an iteration. */
    private static final TimeValue TIMEOUT = TimeValue.minutes(1);

    /** The most runs of a case. */
    private static final int RUNS = 3;

    /**
     * For which share of the time a machine may stand still without spoiling a case
     * of parks: a thread that was woken meanwhile cannot show who has the lock.
     */
    private static final double STANDSTILL = 0.02;

    private enum Outcome {
        PASSED,
        FAILED,
        DISTURBED
    }

    private final Setting setting;
    private final String java;
    private final String locktrace;
    private final Path directory;

    private Suite(Setting setting, String java, String locktrace, Path directory) {
        this.setting = setting;
        this.java = java;
        this.locktrace = locktrace;
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        if (args.length < 4 || args.length > 5) {
            System.err.println("Arguments: quick|short|full JAVA LOCKTRACE DIRECTORY [CASES]");
            System.exit(2);
        }
        Setting setting = Setting.valueOf(args[0].toUpperCase(Locale.ROOT));
        Suite suite = new Suite(setting, args[1], args[2], Paths.get(args[3]));
        Pattern wanted = Pattern.compile(args.length < 5 ? "" : args[4]);

        // Other processes may disturb a measurement of speed, but not these.
        System.setProperty("jmh.ignoreLock", "true");
        int passed = 0;
        int failed = 0;
        for (SuiteCase suiteCase : setting.cases()) {
            if (wanted.matcher(suiteCase.toString()).find()) {
                if (suite.run(suiteCase)) {
                    passed++;
                } else {
                    failed++;
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    /** Runs a case, again if it failed while the machine stood still. */
    private boolean run(SuiteCase suiteCase) throws IOException, RunnerException, ProfilerException {
        Outcome outcome = Outcome.DISTURBED;
        for (int run = 0; run < RUNS && outcome == Outcome.DISTURBED; run++) {
            outcome = runOnce(suiteCase);
        }
        return outcome == Outcome.PASSED;
    }

    /** Runs a case and prints its checks. */
    private Outcome runOnce(SuiteCase suiteCase) throws IOException, RunnerException, ProfilerException {
        Files.createDirectories(directory);
        Path scratch = Files.createTempDirectory(directory, "case-");
        Path turns = scratch.resolve("turns");
        double blockedPerOperation = measure(suiteCase, scratch, turns);

        Truth truth = Truth.read(turns);
        Traced traced = new Traced(LocktraceCommand.find(locktrace), traceIn(scratch).toFile(),
                truth.holdings(), suiteCase.isNotified());
        List<Check> checks = Expectation.check(truth, traced, suiteCase.hasOneTurnPerOperation(), blockedPerOperation);

        boolean passes = checks.stream().allMatch(Check::passes);
        System.out.println((passes ? "ok     " : "FAILED ") + suiteCase + ": " + truth + ": " + checks);
        if (passes) {
            delete(scratch);
            return Outcome.PASSED;
        }
        System.out.println("kept   " + scratch);
        if (truth.isOfParks() && truth.standstill() > STANDSTILL) {
            System.out.printf("The machine stood still for %.0f %% of the time%n", 100 * truth.standstill());
            return Outcome.DISTURBED;
        }
        return Outcome.FAILED;
    }

    /** Runs a case under JMH; returns the blocked nanoseconds for each operation. */
    private double measure(SuiteCase suiteCase, Path scratch, Path turns) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .jvm(java)
                .jvmArgsPrepend("-Xmx512m", "-D" + Recorder.PROPERTY + '=' + turns)
                .forks(1)
                .shouldFailOnError(true)
                .timeout(TIMEOUT)
                .verbosity(VerboseMode.SILENT)
                .addProfiler(LockTraceProfiler.class, "dir=" + scratch + ";locktrace=" + locktrace);
        suiteCase.configure(options);
        setting.configure(options);
        RunResult result = new Runner(options.build()).runSingle();
        return result.getSecondaryResults().get(LockTraceProfiler.LABEL + ".blocked").getScore();
    }

    private static Path traceIn(Path directory) throws IOException {
        try (DirectoryStream<Path> traces = Files.newDirectoryStream(directory, "*.lct")) {
            return traces.iterator().next();
        }
    }

    private static void delete(Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }
}
