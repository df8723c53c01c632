package scenarios;

/** A frame with exception handlers. */
final class CatchingStep0 implements Step {
    @Override
    public long call(CallPlan plan, int depth) {
        long length;
        try {
            plan.arriving(depth).meet();
            length = plan.isEnd(depth) ? plan.end(depth) : plan.step(depth + 1).call(plan, depth + 1);
            length /= plan.divisor(depth);
        } catch (RuntimeException e) {
            plan.handling(depth).meet();
            length = plan.caught(depth, e);
        } finally {
            plan.leaving(depth).meet();
        }
        return length + 1;
    }
}
