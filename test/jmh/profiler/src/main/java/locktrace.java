import org.openjdk.jmh.profile.ProfilerException;
import tools.locktrace.jmh.LockTraceProfiler;

/**
 * The name after {@code -prof locktrace}.
 *
 * <p>JMH 1.37 finds a profiler by the canonical name of its class; only its own
 * have short names. Hence a class of this name, in no package.
 */
public final class locktrace extends LockTraceProfiler {
    /** For {@link java.util.ServiceLoader}. */
    public locktrace() {}

    /** For JMH: with what follows the colon. */
    public locktrace(String initLine) throws ProfilerException {
        super(initLine);
    }
}
