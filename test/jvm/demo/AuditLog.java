package demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A log that reaches the disk line by line. */
final class AuditLog {
    private static final long FLUSH_NANOS = 2_500_000;

    private final List<String> lines = new ArrayList<>();

    synchronized void append(String line) {
        lines.add(line);
        flush();
    }

    synchronized int lines() {
        return lines.size();
    }

    /** Stands for a slow disk. */
    private static void flush() {
        LockSupport.parkNanos(FLUSH_NANOS);
    }
}
