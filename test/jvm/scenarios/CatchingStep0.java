package scenarios;

/** A frame with exception handlers. */
final class CatchingStep0 implements Step {
    @Override
    public long call(Journey journey, int depth) {
        long length;
        try {
            journey.arriving(depth).meet();
            length = journey.isEnd(depth) ? journey.end(depth) : journey.step(depth + 1).call(journey, depth + 1);
            length /= journey.divisor(depth);
        } catch (RuntimeException e) {
            journey.handling(depth).meet();
            length = journey.caught(depth, e);
        } finally {
            journey.leaving(depth).meet();
        }
        return length + 1;
    }
}
