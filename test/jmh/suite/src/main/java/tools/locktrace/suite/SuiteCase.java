package tools.locktrace.suite;

import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import tools.locktrace.suite.shapes.InlinedLocks;
import tools.locktrace.suite.shapes.ReadersAndWriters;
import tools.locktrace.suite.shapes.SharedLocks;

/** A benchmark with its parameters and number of threads. */
final class SuiteCase {
    private final Class<?> benchmark;
    private final String method;
    private final int[] threads;
    private final List<String[]> parameters = new ArrayList<>();
    private boolean isNotified;

    private SuiteCase(Class<?> benchmark, String method, int... threads) {
        this.benchmark = benchmark;
        this.method = method;
        this.threads = threads;
    }

    /** Some threads that all do the same. */
    static SuiteCase of(Class<?> benchmark, int threads) {
        return new SuiteCase(benchmark, "turn", threads);
    }

    /** A group of threads: how many for each of its methods, in alphabetical order. */
    static SuiteCase ofGroup(Class<?> benchmark, String group, int... threads) {
        return new SuiteCase(benchmark, group, threads);
    }

    SuiteCase with(String parameter, Object value) {
        parameters.add(new String[] {parameter, value.toString()});
        return this;
    }

    /** Threads enter the lock again after a notification, at times that they do not know. */
    SuiteCase notified() {
        isNotified = true;
        return this;
    }

    boolean isNotified() {
        return isNotified;
    }

    /** An operation holds a lock once. */
    boolean hasOneTurnPerOperation() {
        return benchmark == SharedLocks.class || benchmark == InlinedLocks.class
                || benchmark == ReadersAndWriters.class;
    }

    void configure(ChainedOptionsBuilder options) {
        options.include("^" + benchmark.getName().replace(".", "\\.") + "\\." + method + "$");
        if (threads.length == 1) {
            options.threads(threads[0]);
        } else {
            options.threadGroups(threads);
        }
        for (String[] parameter : parameters) {
            options.param(parameter[0], parameter[1]);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(benchmark.getSimpleName()).append(" threads=");
        for (int i = 0; i < threads.length; i++) {
            text.append(i == 0 ? "" : "+").append(threads[i]);
        }
        for (String[] parameter : parameters) {
            text.append(' ').append(parameter[0]).append('=').append(parameter[1]);
        }
        return text.toString();
    }
}
