package tools.locktrace.jmh;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.BenchmarkResultMetaData;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;

/**
 * Traces the lock contention of each fork and adds what {@code locktrace} says
 * about it to the benchmark's results.
 *
 * <p>Secondary results, each per operation:
 *
 * <ul>
 *   <li>{@code locktrace.waits}: how often a thread was blocked,
 *   <li>{@code locktrace.blocked}: how long all threads together were blocked,
 *       in nanoseconds,
 *   <li>{@code locktrace.blocked.by.METHOD}: the part of that during which the
 *       method held the lock, for the methods with the largest parts,
 *   <li>{@code locktrace}: the report as a text.
 * </ul>
 *
 * <p>A trace covers its whole fork. So the sums are divided by the number of all
 * operations that JMH counted in the fork, those of the warm-up included. Waits
 * in the code that JMH generates are left out of the numbers: there threads wait
 * for each other's {@code @Setup}.
 */
public class LockTraceProfiler implements ExternalProfiler {
    /** The beginning of all labels of results. */
    public static final String LABEL = "locktrace";

    private final ProfilerOptions options;
    private final LocktraceCommand command;

    /** The trace of the fork being run. */
    private File trace;

    /** A profiler that can only describe itself. */
    public LockTraceProfiler() {
        options = null;
        command = null;
    }

    /** A profiler with options, in the form of JMH: {@code NAME=VALUE;...}. */
    public LockTraceProfiler(String initLine) throws ProfilerException {
        options = ProfilerOptions.parse(initLine);
        command = LocktraceCommand.find(options.locktrace);
    }

    @Override
    public String getDescription() {
        return "Lock contention: waits and blocked time per operation, and the methods that held the locks";
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        TracedJvm.require(params.getJvm());
        trace = options.traceOf(params);
        return TracedJvm.options(trace);
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {}

    @Override
    public Collection<? extends Result<?>> afterTrial(
            BenchmarkResult result, long pid, File stdOut, File stdErr) {
        try {
            return results(result.getMetadata());
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        } finally {
            if (!options.keepsTraces()) {
                trace.delete();
            }
        }
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    private Collection<? extends Result<?>> results(BenchmarkResultMetaData fork) throws IOException {
        if (trace.length() == 0) {
            throw new IOException("the JVM wrote no trace " + trace + "; its output says why");
        }
        double operations = fork.getWarmupOps() + fork.getMeasurementOps();
        Contention contention = Contention.of(command.report(trace, "method,owner-method"));
        List<Result<?>> results = new ArrayList<>(Arrays.asList(
                perOperation("waits", contention.waits / operations, "waits/op"),
                perOperation("blocked", contention.blockedNs / operations, "ns/op")));
        contention.topOwners(options.top).forEach((owner, ns) -> results.add(
                perOperation("blocked.by." + owner, ns / operations, "ns/op")));
        results.add(new TextResult(command.table(trace, options.top), LABEL));
        return results;
    }

    private static Result<?> perOperation(String name, double value, String unit) {
        // JMH begins a new line after each comma of its JSON, those in strings included.
        String label = LABEL + "." + name.replace(", ", ";");
        return new ScalarResult(label, value, unit, AggregationPolicy.AVG);
    }
}
