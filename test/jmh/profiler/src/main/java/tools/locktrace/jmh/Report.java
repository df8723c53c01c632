package tools.locktrace.jmh;

import java.util.Collections;
import java.util.List;

/** The output of {@code locktrace report --format json}. Durations are in nanoseconds. */
public final class Report {
    public Trace trace = new Trace();
    public List<Node> tree = Collections.emptyList();

    /** The subject of the report. */
    public static final class Trace {
        /** The trace could be read to the end that the JVM wrote. */
        public boolean complete;
        public long lostEvents;
    }

    /** All contentions that agree in an aspect, and in those of the nodes above. */
    public static final class Node {
        /** Identifies the value of the aspect. */
        public String key;
        /** The value for people. */
        public String label;
        public long waits;
        public long durationNs;
        /** The frames if the aspect is a call chain, innermost first. */
        public List<Frame> frames = Collections.emptyList();
        public List<Node> children = Collections.emptyList();

        /** Somebody is known to have held the lock. */
        public boolean isKnown() {
            return !key.startsWith("<");
        }
    }

    /** A frame of a call chain. */
    public static final class Frame {
        /** The class that declares the method. */
        public String className() {
            return declaringClass;
        }

        @com.google.gson.annotations.SerializedName("class")
        private String declaringClass;
        public String method;
    }
}
