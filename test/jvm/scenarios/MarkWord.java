package scenarios;

/** The first word of an object, as HotSpot has it on 64-bit machines. */
final class MarkWord {
    /** The lowest three bits of an object that is neither locked nor biased. */
    private static final long STATE_MASK = 7;
    private static final long UNLOCKED = 1;
    private static final int HASH_SHIFT = 8;
    private static final long HASH_MASK = 0x7fff_ffff;

    private MarkWord() {}

    /** Returns whether an object that nobody locks has its identity hash code. To ask for the
     * code would give it one. */
    static boolean isHashed(Object object) {
        long mark = UnsafeMonitor.theUnsafe().getLong(object, 0L);
        return (mark & STATE_MASK) == UNLOCKED && (mark >>> HASH_SHIFT & HASH_MASK) != 0;
    }
}
