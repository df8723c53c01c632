package tools.locktrace.suite.shapes;

/** The kinds of locks for readers and writers that a benchmark can be run with. */
public enum ReadWriteKind {
    REENTRANT {
        @Override
        ReadWriteGuards create() {
            return ReadWriteGuards.reentrant(false);
        }
    },
    FAIR_REENTRANT {
        @Override
        ReadWriteGuards create() {
            return ReadWriteGuards.reentrant(true);
        }
    },
    STAMPED {
        @Override
        ReadWriteGuards create() {
            return ReadWriteGuards.stamped();
        }
    };

    /** A new lock. */
    abstract ReadWriteGuards create();
}
