package tools.locktrace.jmx;

import java.util.Map;

/**
 * Lock contention in this JVM, for JMX clients. Times are in nanoseconds, and everything is since
 * tracing began.
 *
 * <p>There are figures while events are analyzed in the JVM: traced with {@code
 * -XX:LockContentionAnalysis=online} or {@code both}, or {@link #start started} so. Without, numbers are
 * -1 and the tables are empty. All attributes that a client reads together are of the same moment;
 * it is taken at most once a second, and takes up to a second.
 */
public interface LockContentionMXBean {
    /** The name under which this is registered. */
    String OBJECT_NAME = "tools.locktrace:type=LockContention";

    /** Returns whether lock contention is traced. */
    boolean isTracing();

    /** Returns whether figures are available. */
    boolean isAnalyzing();

    /** Describes the trace: since when, and to which file. */
    String getStatus();

    /** Returns how long threads were blocked, all together. */
    long getBlockedNanos();

    /** Returns the part of that time in which the lock was free: woken threads were not running
     * yet. */
    long getFreeNanos();

    /** Returns the part of that time for which the owner of the lock is unknown. */
    long getUnknownOwnerNanos();

    /** Returns how often a thread had to wait for a lock. */
    long getWaits();

    /** The longest wait. */
    long getLongestWaitNanos();

    /** Returns the number of threads that wait for locks now. */
    int getBlockedThreads();

    /** Returns the number of deadlocks now. */
    int getDeadlocks();

    /** Events that are missing because memory was short, or the analysis behind. */
    long getLostEvents();

    /**
     * What threads were blocked by most, by class of the lock and method that held it: {@link
     * #getTopCount} rows. The last one may be {@code other}: all that has none of its own.
     */
    Map<String, Contention> getTopContentions();

    /** Returns the most rows in {@link #getTopContentions}. */
    int getTopCount();

    /** Sets how many rows there are; at least one. */
    void setTopCount(int count);

    /**
     * Starts tracing, with the arguments of {@code jcmd PID LockContention.start}, such as {@code
     * analysis=both file=/tmp/app.lct duration=5m}. Without any, events are analyzed in the JVM and
     * there is no trace file. Returns what the JVM says.
     */
    String start(String arguments);

    /** Stops tracing, and returns what the JVM says. */
    String stop();

    /** Copies the trace so far to a new file, and returns what the JVM says. */
    String dump(String file);

    /** A report, with the arguments of {@code jcmd PID LockContention.report}. */
    String report(String arguments);
}
