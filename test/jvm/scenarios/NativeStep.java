package scenarios;

/** A native method, which calls back through JNI; exceptions pass it without a check. */
final class NativeStep implements Step {
    static {
        Natives.load();
    }

    @Override
    public native long call(CallPlan plan, int depth);
}
