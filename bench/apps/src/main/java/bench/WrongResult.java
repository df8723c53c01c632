package bench;

/** An iteration whose work was not done right: its time means nothing. */
public final class WrongResult extends Exception {
    private static final long serialVersionUID = 1;

    private WrongResult(String message) {
        super(message);
    }

    /** Throws unless the two are equal. */
    public static void unlessEqual(String what, long expected, long found) throws WrongResult {
        if (expected != found) {
            throw new WrongResult(what + ": expected " + expected + ", found " + found);
        }
    }

    /** Throws unless the two are equal. */
    public static void unlessEqual(String what, String expected, String found) throws WrongResult {
        if (!expected.equals(found)) {
            throw new WrongResult(what + ": expected " + expected + ", found " + found);
        }
    }

    /** Throws unless the condition holds. */
    public static void unless(boolean condition, String problem) throws WrongResult {
        if (!condition) {
            throw new WrongResult(problem);
        }
    }
}
