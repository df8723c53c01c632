package suite;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import org.renaissance.Plugin;

/** Has Renaissance's command line, and calls plugins as Renaissance does. */
public final class Renaissance {
    private Renaissance() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("--raw-list")) {
            Benchmark.list("\n");
            return;
        }
        Options options = new Options(arguments);
        options.value("-c");
        String[] plugin = options.value("--plugin").split("!");
        URL[] classPath = {new File(plugin[0]).toURI().toURL()};
        try (URLClassLoader loader = new URLClassLoader(classPath)) {
            run(options, loader.loadClass(plugin[1]).getConstructor().newInstance());
        }
    }

    private static void run(Options options, Object plugin) {
        String name = options.benchmark.toString();
        for (int operation = 0; operation < options.number("-r"); operation++) {
            ((Plugin.AfterOperationSetUpListener) plugin).afterOperationSetUp(name, operation, false);
            boolean isRight = options.benchmark.iterate(operation + 1);
            ((Plugin.BeforeOperationTearDownListener) plugin).beforeOperationTearDown(name, operation, 0);
            if (!isRight) {
                ((Plugin.BenchmarkFailureListener) plugin).onBenchmarkFailure(name);
                System.exit(1);
            }
            for (String metric : new String[] {"uptime_ns", "duration_ns"}) {
                ((Plugin.MeasurementResultListener) plugin).onMeasurementResult(name, metric, 0);
            }
        }
    }
}
