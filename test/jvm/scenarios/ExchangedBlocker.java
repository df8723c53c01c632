package scenarios;

import java.lang.reflect.Field;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;

/**
 * Twice a thread parks on a synchronizer when the program has got a line, which is after the end of a trace. When it has
 * got another one, which is after the begin of the next, the main thread changes by reflection what that thread is
 * parked on, and wakes it.
 *
 * <p>Prints {@code ready 1}, {@code parked 1} and so on, and at the end how many threads the tracer's version of each synchronizer counts, which
 * must be none.
 */
public final class ExchangedBlocker {
    private static final class Synchronizer extends AbstractOwnableSynchronizer {
        private static final long serialVersionUID = 1;
    }

    private static volatile boolean woken;

    private ExchangedBlocker() {}

    public static void main(String[] args) throws Exception {
        Object[] blockers = {new Synchronizer(), new Synchronizer(), new Object()};
        for (int i = 1; i < blockers.length; i++) {
            System.out.println("ready " + i);
            System.in.read();
            exchangeWhileParked("parked " + i, blockers[0], blockers[i]);
        }
        System.out.println("counted " + countedBy(blockers[0]) + " " + countedBy(blockers[1]));
    }

    private static void exchangeWhileParked(String line, Object blocker, Object other) throws Exception {
        woken = false;
        Thread thread = new Thread(() -> parkOn(blocker), "parked");
        thread.start();
        while (LockSupport.getBlocker(thread) != blocker || thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        System.out.println(line);
        System.in.read();
        Field field = Thread.class.getDeclaredField("parkBlocker");
        field.setAccessible(true);
        field.set(thread, other);
        woken = true;
        LockSupport.unpark(thread);
        thread.join();
    }

    private static void parkOn(Object blocker) {
        while (!woken) {
            LockSupport.park(blocker);
        }
    }

    private static int countedBy(Object synchronizer) throws ReflectiveOperationException {
        Field field = AbstractOwnableSynchronizer.class.getDeclaredField("traceParked");
        field.setAccessible(true);
        return field.getInt(synchronizer);
    }
}
