package scenarios;

/** A synchronized method, whose lock others want until it is left. */
final class LockingStep0 implements Step {
    @Override
    public synchronized long call(Journey journey, int depth) {
        journey.attract(depth, this);
        journey.arriving(depth).meet();
        long length = journey.isEnd(depth) ? journey.end(depth) : journey.step(depth + 1).call(journey, depth + 1);
        journey.leaving(depth).meet();
        return length / journey.divisor(depth) + 1;
    }
}
