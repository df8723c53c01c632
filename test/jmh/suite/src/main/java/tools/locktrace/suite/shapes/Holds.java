package tools.locktrace.suite.shapes;

/** For how many naps a lock is held, by the number of the thread, the chain or the lock. */
public enum Holds {
    /** All hold equally long. */
    UNIFORM {
        @Override
        int naps(int number) {
            return 2;
        }
    },
    /** 1 : 2 : 4 : 8, and again. */
    GEOMETRIC {
        @Override
        int naps(int number) {
            return 1 << number % 4;
        }
    },
    /** The first holds sixteen times as long as each of the others. */
    ONE_LONG {
        @Override
        int naps(int number) {
            return number == 0 ? 16 : 1;
        }
    };

    abstract int naps(int number);
}
