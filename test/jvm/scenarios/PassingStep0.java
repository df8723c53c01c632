package scenarios;

/** A frame without an exception handler. */
final class PassingStep0 implements Step {
    @Override
    public long call(Journey journey, int depth) {
        journey.arriving(depth).meet();
        long length = journey.isEnd(depth) ? journey.end(depth) : journey.step(depth + 1).call(journey, depth + 1);
        journey.leaving(depth).meet();
        return length / journey.divisor(depth) + 1;
    }
}
