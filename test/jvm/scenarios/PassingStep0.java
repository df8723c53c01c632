package scenarios;

/** A frame without an exception handler. */
final class PassingStep0 implements Step {
    @Override
    public long call(CallPlan plan, int depth) {
        plan.arriving(depth).meet();
        long length = plan.isEnd(depth) ? plan.end(depth) : plan.step(depth + 1).call(plan, depth + 1);
        plan.leaving(depth).meet();
        return length / plan.divisor(depth) + 1;
    }
}
