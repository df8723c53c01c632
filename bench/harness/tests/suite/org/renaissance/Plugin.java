package org.renaissance;

/** The interface that Renaissance calls in each iteration. */
public interface Plugin {
    /** Before an iteration. */
    interface AfterOperationSetUpListener extends Plugin {
        void afterOperationSetUp(String benchmark, int operation, boolean isLast);
    }

    /** After an iteration. */
    interface BeforeOperationTearDownListener extends Plugin {
        void beforeOperationTearDown(String benchmark, int operation, long durationNanos);
    }

    /** After an iteration with a right result, once for each metric. */
    interface MeasurementResultListener extends Plugin {
        void onMeasurementResult(String benchmark, String metric, long value);
    }

    /** After a failure or a wrong result. */
    interface BenchmarkFailureListener extends Plugin {
        void onBenchmarkFailure(String benchmark);
    }
}
