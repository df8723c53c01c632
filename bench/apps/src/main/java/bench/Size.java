package bench;

/** How much work an iteration does. */
enum Size {
    SMALL,
    DEFAULT,
    LARGE;

    private static final int RATIO = 5;

    /** The amount of work of this size, given that of the size {@link #DEFAULT}. */
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
