package scenarios;

/** A synchronized native method, whose lock others want until it is left. */
final class LockingNativeStep implements Step {
    static {
        Natives.load();
    }

    @Override
    public synchronized native long call(CallPlan plan, int depth);
}
