package scenarios;

/**
 * Native code locks with JNI's MonitorEnter and MonitorExit, within one call.
 *
 * <pre>
 * lock   scenarios.JniMonitor
 * owner  scenarios.JniMonitor.lockAround -
 * owner  scenarios.JniMonitor.own own
 * waiter scenarios.JniMonitor.lockBriefly -
 * waiter scenarios.JniMonitor.want want
 * </pre>
 */
final class JniMonitor implements Scenario {
    static {
        Natives.load();
    }

    @Override
    public void own(Held held) {
        lockAround(held); // @own
    }

    @Override
    public void want() {
        lockBriefly(); // @want
    }

    /** Enters this object's monitor, calls {@code held.run()}, exits. */
    private native void lockAround(Held held);

    /** Enters and exits this object's monitor. */
    private native void lockBriefly();
}
