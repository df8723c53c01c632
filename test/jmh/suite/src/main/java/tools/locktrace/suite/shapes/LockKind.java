package tools.locktrace.suite.shapes;

/** The kinds of locks that a benchmark can be run with. */
public enum LockKind {
    BLOCK {
        @Override
        Guard create() {
            return new IntrinsicGuards.Block();
        }
    },
    METHOD {
        @Override
        Guard create() {
            return new IntrinsicGuards.Method();
        }
    },
    STATIC_METHOD {
        @Override
        Guard create() {
            return new IntrinsicGuards.StaticMethod();
        }
    },
    CLASS_LITERAL {
        @Override
        Guard create() {
            return new IntrinsicGuards.ClassLiteral();
        }
    },
    NATIVE_METHOD {
        @Override
        Guard create() {
            return new NativeGuards.Method();
        }
    },
    STATIC_NATIVE_METHOD {
        @Override
        Guard create() {
            return new NativeGuards.StaticMethod();
        }
    },
    EXCEPTION_FROM_BLOCK {
        @Override
        Guard create() {
            return new ThrowingGuards.Block();
        }
    },
    EXCEPTION_FROM_METHOD {
        @Override
        Guard create() {
            return new ThrowingGuards.Method();
        }
    },
    REENTRANT_LOCK {
        @Override
        Guard create() {
            return new ConcurrentGuards.Reentrant(false);
        }
    },
    FAIR_REENTRANT_LOCK {
        @Override
        Guard create() {
            return new ConcurrentGuards.Reentrant(true);
        }
    },
    WRITE_LOCK {
        @Override
        Guard create() {
            return ReadWriteGuards.reentrant(false).writer;
        }
    },
    FAIR_WRITE_LOCK {
        @Override
        Guard create() {
            return ReadWriteGuards.reentrant(true).writer;
        }
    },
    STAMPED_WRITE_LOCK {
        @Override
        Guard create() {
            return ReadWriteGuards.stamped().writer;
        }
    },
    SEMAPHORE {
        @Override
        Guard create() {
            return new ConcurrentGuards.Semaphore(1);
        }
    },
    TWO_PERMITS {
        @Override
        Guard create() {
            return new ConcurrentGuards.Semaphore(2);
        }
    };

    /** Threads that wait are parked; else they are blocked at a monitor. */
    public boolean parks() {
        return compareTo(REENTRANT_LOCK) >= 0;
    }

    /** A new lock; those of classes are the same each time. */
    abstract Guard create();

    Guard[] create(int number) {
        Guard[] guards = new Guard[number];
        for (int i = 0; i < number; i++) {
            guards[i] = create();
        }
        return guards;
    }
}
