package scenarios;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads wait for what "root" holds: "entering" for a monitor, "parking" for a lock, "napping" for
 * ten minutes unless it is unparked. The line {@code blocked} says that they do. A line of input
 * makes root let all of them go on. After that "late" waits for the monitor, which the line
 * {@code again} says, until the next line of input.
 */
public final class WaitsOverTheEdge {
    private static final class Gate {}

    private final Gate gate = new Gate();
    private final ReentrantLock lock = new ReentrantLock();

    private WaitsOverTheEdge() {}

    public static void main(String[] args) throws Exception {
        new WaitsOverTheEdge().run();
    }

    private void run() throws Exception {
        Thread.currentThread().setName("root");
        Thread entering = new Thread(this::enter, "entering");
        Thread parking = new Thread(this::lockAndUnlock, "parking");
        Thread napping = new Thread(() -> LockSupport.parkNanos(this, 600_000_000_000L), "napping");
        letGo(entering, parking, napping);
        entering.join();
        parking.join();
        napping.join();

        Thread late = new Thread(this::enter, "late");
        synchronized (gate) {
            late.start();
            Contender.awaitBlocked(late);
            System.out.println("again");
            System.in.read();
        }
        late.join();
    }

    private void letGo(Thread entering, Thread parking, Thread napping) throws Exception {
        lock.lock();
        synchronized (gate) {
            entering.start();
            parking.start();
            napping.start();
            Contender.awaitBlocked(entering);
            while (!lock.hasQueuedThread(parking) || LockSupport.getBlocker(napping) == null) {
                Thread.sleep(1);
            }
            // Both say that they park just before they do.
            Thread.sleep(20);
            System.out.println("blocked");
            System.in.read();
        }
        lock.unlock();
        LockSupport.unpark(napping);
    }

    private void enter() {
        synchronized (gate) {
            Thread.yield();
        }
    }

    private void lockAndUnlock() {
        lock.lock();
        lock.unlock();
    }
}
