package tools.locktrace.suite.truth;

import java.util.ArrayList;
import java.util.List;

/** The turns of one thread, written by it alone. */
public final class TurnLog {
    final String thread;
    final List<Turn> turns = new ArrayList<>();

    TurnLog(String thread) {
        this.thread = thread;
    }

    /** Notes a turn that is about to begin. */
    public Turn note(Turn turn) {
        turns.add(turn);
        return turn;
    }
}
