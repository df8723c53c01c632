package scenarios;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A plan for one deep call: the frames that the stack consists of, where the
 * thread meets its contender, how the call ends at its innermost frame, and where
 * exceptions are caught.
 *
 * <p>The plan can be carried out with and without meetings, and the exceptions,
 * with their stack traces, must be the same.
 */
final class CallPlan {
    /** The ways in which the innermost frame ends. */
    enum End {
        /** It returns. */
        RETURN,
        /** It throws an exception. */
        THROW,
        /** It calls a method of a null reference: a memory access that fails. */
        NULL,
        /** It divides by zero: an instruction that fails. */
        ZERO
    }

    private final Step[] steps;
    private final End end;
    private final Encounter[] arriving;
    private final Encounter[] handling;
    private final Encounter[] leaving;
    private final boolean[] catching;
    private final Waiters[] waiters;

    private boolean eventful;
    private final List<String> log = new ArrayList<>();

    /** A plan without meetings, in which nothing is caught. */
    CallPlan(Step[] steps, End end) {
        this.steps = steps;
        this.end = end;
        arriving = new Encounter[steps.length];
        handling = new Encounter[steps.length];
        leaving = new Encounter[steps.length];
        Arrays.fill(arriving, Encounter.NONE);
        Arrays.fill(handling, Encounter.NONE);
        Arrays.fill(leaving, Encounter.NONE);
        catching = new boolean[steps.length];
        waiters = new Waiters[steps.length];
    }

    /** Adds meetings of all kinds at random places. */
    void addEncounters(Random random, Encounter encounter) {
        for (Encounter[] encounters : Arrays.asList(arriving, handling, leaving)) {
            for (int depth = 0; depth < steps.length; depth++) {
                if (random.nextInt(6) == 0) {
                    encounters[depth] = encounter;
                }
            }
        }
        for (int depth = 0; depth < steps.length; depth++) {
            catching[depth] = random.nextInt(4) == 0;
        }
    }

    void arriveWith(int depth, Encounter encounter) {
        arriving[depth] = encounter;
    }

    /** Lets exceptions pass this frame, if it is one that could catch them. */
    void passExceptionsAt(int depth) {
        catching[depth] = false;
    }

    /** Has others want the lock of a frame that has one. */
    void addWaitersAt(int depth, Waiters waiters) {
        this.waiters[depth] = waiters;
    }

    /** Carries out the plan; returns what happened, in words. */
    List<String> execute(boolean eventful) {
        this.eventful = eventful;
        log.clear();
        try {
            log.add("returned " + steps[0].call(this, 0));
        } catch (RuntimeException e) {
            log("threw", e);
        }
        return new ArrayList<>(log);
    }

    private void log(String what, RuntimeException exception) {
        // Some updates show the classes of lambdas, whose names depend on when they were made.
        Object[] frames =
                Arrays.stream(exception.getStackTrace())
                        .filter(frame -> !frame.getClassName().contains("$$Lambda$"))
                        .toArray();
        log.add(what + " " + exception + " " + Arrays.toString(frames));
    }

    // Called by the steps.

    Encounter arriving(int depth) {
        return eventful ? arriving[depth] : Encounter.NONE;
    }

    Encounter handling(int depth) {
        return eventful ? handling[depth] : Encounter.NONE;
    }

    Encounter leaving(int depth) {
        return eventful ? leaving[depth] : Encounter.NONE;
    }

    void block(int depth, Object lock) {
        if (eventful && waiters[depth] != null) {
            waiters[depth].block(lock);
        }
    }

    boolean isEnd(int depth) {
        return depth == steps.length - 1 && end != End.NULL;
    }

    long end(int depth) {
        if (end == End.THROW) {
            throw new Failure("at " + depth);
        }
        return 0;
    }

    /** The step at a depth, or null after the last one. */
    Step step(int depth) {
        return depth < steps.length ? steps[depth] : null;
    }

    int divisor(int depth) {
        return depth == steps.length - 1 && end == End.ZERO ? 0 : 1;
    }

    /** Returns the result of a frame that has caught an exception; throws it again if it is not
     * for that frame. */
    long caught(int depth, RuntimeException exception) {
        log("caught at " + depth, exception);
        if (!catching[depth]) {
            throw exception;
        }
        return 0;
    }
}
