package bench;

/** Amounts of work of an iteration. */
enum Size {
    SMALL,
    DEFAULT,
    LARGE;

    private static final int RATIO = 5;

    /** Returns the amount of work of this size, given the amount at {@link #DEFAULT}. */
    int scale(int atDefault) {
        switch (this) {
            case SMALL:
                return Math.max(1, atDefault / RATIO);
            case LARGE:
                return Math.multiplyExact(atDefault, RATIO);
            default:
                return atDefault;
        }
    }

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase();
    }
}
