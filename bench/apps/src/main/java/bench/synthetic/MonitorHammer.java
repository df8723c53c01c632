package bench.synthetic;

import bench.Settings;

/** Threads that contend for one monitor. */
public final class MonitorHammer extends Hammer {
    private final Object monitor = new Object();

    public MonitorHammer(Settings settings) {
        super(settings);
    }

    @Override
    long locked(long state) {
        synchronized (monitor) {
            return hold(state);
        }
    }
}
