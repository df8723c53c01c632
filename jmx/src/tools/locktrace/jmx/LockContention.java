package tools.locktrace.jmx;

import java.util.Collections;
import java.util.Map;

/** See {@link LockContentionMXBean}. */
final class LockContention implements LockContentionMXBean {
    private static final long MAX_AGE_NANOS = 1_000_000_000;

    private final Commands commands;
    private int topCount = 20;
    /** The figures taken last; null if there are none. */
    private Figures figures;
    private String status;
    /** The time at which they were taken. */
    private long takenNanos;

    LockContention(Commands commands) {
        this.commands = commands;
    }

    @Override
    public boolean isTracing() {
        current();
        return !status.contains("is not traced");
    }

    @Override
    public boolean isAnalyzing() {
        return current() != null;
    }

    @Override
    public synchronized String getStatus() {
        current();
        return status;
    }

    @Override
    public long getBlockedNanos() {
        return number(current(), Figures::blockedNanos);
    }

    @Override
    public long getFreeNanos() {
        return number(current(), Figures::freeNanos);
    }

    @Override
    public long getUnknownOwnerNanos() {
        return number(current(), Figures::unknownOwnerNanos);
    }

    @Override
    public long getWaits() {
        return number(current(), Figures::waits);
    }

    @Override
    public long getLongestWaitNanos() {
        return number(current(), Figures::longestWaitNanos);
    }

    @Override
    public int getBlockedThreads() {
        return (int) number(current(), Figures::blockedThreads);
    }

    @Override
    public int getDeadlocks() {
        return (int) number(current(), Figures::deadlocks);
    }

    @Override
    public long getLostEvents() {
        return number(current(), Figures::lostEvents);
    }

    @Override
    public Map<String, Contention> getTopContentions() {
        Figures figures = current();
        return figures == null ? Collections.emptyMap() : figures.topContentions(getTopCount());
    }

    @Override
    public synchronized int getTopCount() {
        return topCount;
    }

    @Override
    public synchronized void setTopCount(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("TopCount: expected at least 1, found: " + count);
        }
        topCount = count;
    }

    @Override
    public String start(String arguments) {
        String[] given = split(arguments);
        return forgetAfter(commands.start(given.length == 0 ? new String[] {"analysis=online"} : given));
    }

    @Override
    public String stop() {
        return forgetAfter(commands.stop());
    }

    @Override
    public String dump(String file) {
        return commands.dump(file);
    }

    @Override
    public String report(String arguments) {
        return commands.report(split(arguments));
    }

    /** The figures as they are now, or were less than a second ago; null if there are none. */
    private synchronized Figures current() {
        if (status == null || System.nanoTime() - takenNanos > MAX_AGE_NANOS) {
            status = commands.status();
            figures = status.contains("is not traced") ? null : taken();
            takenNanos = System.nanoTime();
        }
        return figures;
    }

    /** Null while events go to a file only. */
    private Figures taken() {
        String report = commands.report("format=json");
        return report.startsWith("{") ? Figures.of(report) : null;
    }

    private synchronized String forgetAfter(String answer) {
        status = null;
        return answer;
    }

    private interface Number {
        long of(Figures figures);
    }

    private static long number(Figures figures, Number number) {
        return figures == null ? -1 : number.of(figures);
    }

    private static String[] split(String arguments) {
        String given = arguments == null ? "" : arguments.trim();
        return given.isEmpty() ? new String[0] : given.split("\\s+");
    }
}
