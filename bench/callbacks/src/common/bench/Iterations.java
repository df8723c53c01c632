package bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/**
 * Times the iterations of a benchmark, marks them in the trace, and reports them to
 * the harness. Each iteration is
 * {@link #begin}, the work, {@link #stop}, the check of its result, and then
 * either {@link #passed} or {@link #failed}.
 *
 * <p>The harness reads these lines, and ignores all others:
 * <pre>
 * bench iteration 1 begin
 * bench iteration 1 end time_ns 1234567890 cpu_ns 2345678901
 * bench failed REASON
 * </pre>
 */
public final class Iterations {
    private final OperatingSystemMXBean process =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    /** Standard output, also if the benchmark has replaced {@link System#out}. */
    private final FileOutputStream output = new FileOutputStream(FileDescriptor.out);

    private int iteration;
    private long startNanos;
    private long startCpuNanos;
    private long nanos;
    private long cpuNanos;

    /** The next iteration begins. */
    public void begin() {
        iteration++;
        print("iteration " + iteration + " begin");
        Mark.begin();
        startCpuNanos = process.getProcessCpuTime();
        startNanos = System.nanoTime();
    }

    /** The work of the iteration is done; its result is yet to be checked. */
    public void stop() {
        nanos = System.nanoTime() - startNanos;
        cpuNanos = process.getProcessCpuTime() - startCpuNanos;
        Mark.end();
    }

    /** The result of the iteration is right: its times count. */
    public void passed() {
        print("iteration " + iteration + " end time_ns " + nanos + " cpu_ns " + cpuNanos);
    }

    /**
     * The benchmark failed or its result is wrong: nothing of this JVM counts. The
     * caller then sees to it that the JVM exits with code 1.
     */
    public void failed(String reason) {
        print("failed " + reason.replace('\n', ' '));
    }

    /** In one piece, so that no other thread's output gets in between. */
    private void print(String message) {
        try {
            output.write(("bench " + message + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException problem) {
            throw new UncheckedIOException("standard output", problem);
        }
    }
}
