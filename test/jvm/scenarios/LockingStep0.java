package scenarios;

/** A synchronized method, whose lock others want until it is left. */
final class LockingStep0 implements Step {
    @Override
    public synchronized long call(CallPlan plan, int depth) {
        plan.block(depth, this);
        plan.arriving(depth).meet();
        long length = plan.isEnd(depth) ? plan.end(depth) : plan.step(depth + 1).call(plan, depth + 1);
        plan.leaving(depth).meet();
        return length / plan.divisor(depth) + 1;
    }
}
