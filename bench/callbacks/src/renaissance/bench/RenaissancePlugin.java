package bench;

import org.renaissance.Plugin;

/** Reports the iterations of Renaissance. */
public final class RenaissancePlugin
        implements Plugin.AfterOperationSetUpListener,
                Plugin.BeforeOperationTearDownListener,
                Plugin.MeasurementResultListener,
                Plugin.BenchmarkFailureListener {
    private final Iterations iterations = new Iterations();

    @Override
    public void afterOperationSetUp(String benchmark, int operation, boolean isLast) {
        iterations.begin();
    }

    @Override
    public void beforeOperationTearDown(String benchmark, int operation, long durationNanos) {
        iterations.stop();
    }

    /** Called once for each metric, and only if the result is right. */
    @Override
    public void onMeasurementResult(String benchmark, String metric, long value) {
        if (metric.equals("duration_ns")) {
            iterations.passed();
        }
    }

    @Override
    public void onBenchmarkFailure(String benchmark) {
        iterations.failed(benchmark + ": failed, or a wrong result");
    }
}
