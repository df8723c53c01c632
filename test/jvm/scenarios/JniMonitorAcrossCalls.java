package scenarios;

/**
 * Native code locks with JNI's MonitorEnter in one call and unlocks with
 * MonitorExit in another: the code to blame is the one that let go.
 *
 * <pre>
 * lock   scenarios.JniMonitorAcrossCalls
 * owner  scenarios.JniMonitorAcrossCalls.exit -
 * owner  scenarios.JniMonitorAcrossCalls.own exit
 * waiter scenarios.JniMonitorAcrossCalls.enter -
 * waiter scenarios.JniMonitorAcrossCalls.want want
 * </pre>
 */
final class JniMonitorAcrossCalls implements Scenario {
    static {
        Natives.load();
    }

    @Override
    public void own(Held held) {
        enter();
        held.run();
        exit(); // @exit
    }

    @Override
    public void want() {
        enter(); // @want
        exit();
    }

    private native void enter();

    private native void exit();
}
