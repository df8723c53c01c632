package tools.locktrace.jmh;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The JVM that runs a benchmark. */
final class TracedJvm {
    private static final Set<String> KNOWN_TO_TRACE = ConcurrentHashMap.newKeySet();

    private TracedJvm() {}

    /** The flags that let a JVM write a trace. */
    static List<String> options(File trace) {
        return Arrays.asList("-XX:+TraceLockContention", "-XX:LockContentionTraceFile=" + trace.getAbsolutePath());
    }

    /**
     * Fails unless a JVM knows these flags: JMH would only say that the fork
     * ended.
     */
    static void require(String java) {
        if (KNOWN_TO_TRACE.contains(java)) {
            return;
        }
        try {
            Finished version = Finished.run(java, "-XX:+TraceLockContention",
                    "-XX:LockContentionTraceFile=/dev/null", "-version");
            if (version.code != 0) {
                throw new IllegalStateException(java + " cannot trace lock contention: "
                        + version.firstComplaint() + "\nName a JVM with locktrace by -jvm.");
            }
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
        KNOWN_TO_TRACE.add(java);
    }
}
