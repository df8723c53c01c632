package bench;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.logging.LogManager;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs an application as often as requested, in the protocol of {@link Iterations}. */
@Command(name = "bench.Driver", sortOptions = false, usageHelpAutoWidth = true,
        description = "Runs an application and prints the time of each iteration.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:all results were right", "1:the application failed, or a result was wrong",
            "2:wrong usage"})
public final class Driver implements Callable<Integer> {
    private static final int MAXIMAL_THREADS = 1_000;

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "APP", description = "the application, one of --list")
    private String name;

    @Option(names = "--iterations", paramLabel = "N", defaultValue = "10",
            description = "how often it does its work [default: ${DEFAULT-VALUE}]")
    private int iterations;

    @Option(names = "--threads", paramLabel = "N", defaultValue = "8",
            description = "threads that share the work, unless it is single-threaded [default: ${DEFAULT-VALUE}]")
    private int threads;

    @Option(names = "--size", paramLabel = "SIZE", defaultValue = "default",
            description = "the work of an iteration: ${COMPLETION-CANDIDATES} [default: ${DEFAULT-VALUE}]")
    private Size size;

    @Option(names = "--hold", paramLabel = "STEPS", defaultValue = "2000",
            description = "hammers: what a thread does with the lock, about 1 ns a step [default: ${DEFAULT-VALUE}]")
    private int holdSteps;

    @Option(names = "--think", paramLabel = "STEPS", defaultValue = "4000",
            description = "hammers: what it does before it wants the lock again [default: ${DEFAULT-VALUE}]")
    private int thinkSteps;

    @Option(names = "--list", description = "print name, kind and description of each application")
    private boolean list;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "print this text")
    private boolean help;

    private Driver() {}

    public static void main(String[] arguments) {
        CommandLine commandLine = new CommandLine(new Driver())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((problem, all) -> {
                    System.err.println("bench.Driver: " + problem.getMessage() + " (--help tells more)");
                    return ExitCode.USAGE;
                });
        // Applications may leave threads behind.
        System.exit(commandLine.execute(arguments));
    }

    @Override
    public Integer call() {
        if (list) {
            Arrays.stream(Catalog.values()).map(Catalog::line).forEach(System.out::println);
            return 0;
        }
        if (name == null) {
            throw wrong("no application given, see --list");
        }
        Catalog entry = Catalog.find(name).orElseThrow(() -> wrong("unknown application " + name + ", see --list"));
        atLeast(1, iterations, "--iterations");
        atLeast(1, threads, "--threads");
        if (threads > MAXIMAL_THREADS) {
            throw wrong("--threads must be at most " + MAXIMAL_THREADS + ", found " + threads);
        }
        atLeast(0, holdSteps, "--hold");
        atLeast(0, thinkSteps, "--think");
        return run(entry, new Settings(threads, size, holdSteps, thinkSteps));
    }

    private int run(Catalog entry, Settings settings) {
        Iterations protocol = new Iterations();
        silence();
        try (Application application = entry.prepare(settings)) {
            for (int i = 0; i < iterations; i++) {
                protocol.begin();
                application.iterate();
                protocol.stop();
                application.check();
                protocol.passed();
            }
            return 0;
        } catch (Throwable failure) {
            protocol.failed(failure.toString());
            failure.printStackTrace();
            return 1;
        }
    }

    /** Nothing but the protocol is printed, and no windows are opened. */
    private static void silence() {
        System.setProperty("java.awt.headless", "true");
        LogManager.getLogManager().reset();
        System.setOut(new PrintStream(new OutputStream() {
            @Override
            public void write(int character) {}

            @Override
            public void write(byte[] characters, int offset, int length) {}
        }));
    }

    private void atLeast(int minimum, int found, String option) {
        if (found < minimum) {
            throw wrong(option + " must be at least " + minimum + ", found " + found);
        }
    }

    private ParameterException wrong(String problem) {
        return new ParameterException(spec.commandLine(), problem);
    }
}
