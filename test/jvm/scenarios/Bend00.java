package scenarios;

/** Each frame of a recursion relies on {@link Corner00} having no subclass, and on rare things not happening. */
final class Bend00 implements Bend {
    private final Corner00 corner;

    Bend00(Corner00 corner) {
        this.corner = corner;
    }

    Bend00() {
        this(new Corner00());
    }

    @Override
    public long call(int depth, Deoptimizations round) {
        long length = depth == 0 ? round.end() : call(depth - 1, round);
        round.leaving(depth).meet();
        if (round.isRareAt(depth)) {
            length = length * 3 + depth;
        }
        return length * 5 + corner.turn();
    }
}
