package scenarios;

/**
 * A debugger takes frames off the stack of a thread that has contended in them:
 * the frame with the return barrier, or the one above it; to be called again, or returned
 * from with another value.
 *
 * <p>Argument: the number of rounds. The library with the native methods must be
 * loaded as an agent, too.
 *
 * <p>The trace must show what {@link Contender} says.
 *
 * <p>Prints {@code returned SUM} and {@code entered COUNT}.
 */
public final class PoppedFrames {
    private static final int WARM_UP = 20_000;
    private static final int DEPTH = 5;
    private static final int FORCED = 1_000;

    /** The actions on a frame. */
    private enum Action {
        NONE,
        POP,
        RETURN
    }

    private Contender contender;
    private Encounter encounter = Encounter.NONE;
    private boolean spinsAbove;
    private int entered;
    private int returned;
    private volatile boolean waiting;
    private volatile boolean released = true;

    private PoppedFrames() {}

    public static void main(String[] args) throws InterruptedException {
        Natives.load();
        PoppedFrames frames = new PoppedFrames();
        int rounds = Integer.parseInt(args[0]);
        Thread victim = new Thread(() -> frames.run(rounds), "victim");
        victim.start();
        for (int round = 0; round < rounds; round++) {
            for (int target = 0; target < 2; target++) {
                for (Action action : Action.values()) {
                    frames.act(victim, action);
                }
            }
        }
        victim.join();
        System.out.println("returned " + frames.returned);
        System.out.println("entered " + frames.entered);
    }

    private void run(int rounds) {
        for (int i = 0; i < WARM_UP; i++) {
            outer(DEPTH);
        }
        int plain = outer(DEPTH);
        entered = 0;
        contender = new Contender();
        for (int round = 0; round < rounds; round++) {
            for (int target = 0; target < 2; target++) {
                spinsAbove = target == 1;
                for (Action action : Action.values()) {
                    encounter = contender;
                    released = false;
                    int result = outer(DEPTH);
                    int expected = action != Action.RETURN ? plain : plain + FORCED - (spinsAbove ? 3 : 4);
                    if (result != expected) {
                        System.out.println(action + " " + spinsAbove + ": " + result + ", not " + expected);
                        Runtime.getRuntime().halt(1);
                    }
                    returned += result;
                }
            }
        }
        contender.print();
    }

    /** Takes a frame off once the victim stands in it, and lets it go on. */
    private void act(Thread victim, Action action) {
        while (!waiting) {
            Natives.pause();
        }
        suspend(victim);
        switch (action) {
            case POP:
                popFrame(victim);
                break;
            case RETURN:
                forceReturn(victim, FORCED);
                break;
            default:
                break;
        }
        waiting = false;
        released = true;
        resume(victim);
    }

    private int outer(int depth) {
        return depth > 0 ? outer(depth - 1) + 1 : middle() + 1;
    }

    /** Its call of {@link #inner} may be repeated, or return a value given from outside. */
    private int middle() {
        return inner() + 2;
    }

    /** The frame with the return barrier. */
    private int inner() {
        entered++;
        encounter.meet();
        encounter = Encounter.NONE;
        if (spinsAbove) {
            return above() + 1;
        }
        if (!released) {
            waiting = true;
            while (!released) {}
        }
        return 4;
    }

    private int above() {
        entered++;
        if (!released) {
            waiting = true;
            while (!released) {}
        }
        return 3;
    }

    private static native void suspend(Thread thread);

    private static native void resume(Thread thread);

    private static native void popFrame(Thread thread);

    private static native void forceReturn(Thread thread, int value);
}
