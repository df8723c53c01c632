package scenarios;

/** Each frame of a recursion relies on {@link Base00} having no subclass, and on rare things not happening. */
final class Recursion00 implements Recursion {
    private final Base00 base;

    Recursion00(Base00 base) {
        this.base = base;
    }

    Recursion00() {
        this(new Base00());
    }

    @Override
    public long call(int depth, Deoptimizations round) {
        long length = depth == 0 ? round.end() : call(depth - 1, round);
        round.leaving(depth).meet();
        if (round.isRareAt(depth)) {
            length = length * 3 + depth;
        }
        return length * 5 + base.turn();
    }
}
