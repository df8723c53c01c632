package scenarios;

/**
 * Thread "last" waits for a lock that "middle" has, which waits for one that "root" has, until the
 * program's input has a line. The line {@code blocked} says that both wait.
 */
public final class BlockedChain {
    private static final class Outer {}

    private static final class Inner {}

    private final Object outer = new Outer();
    private final Object inner = new Inner();

    private BlockedChain() {}

    public static void main(String[] args) throws Exception {
        new BlockedChain().run();
    }

    private void run() throws Exception {
        Thread middle = new Thread(this::holdInner, "middle");
        Thread last = new Thread(this::wantInner, "last");
        Thread.currentThread().setName("root");
        synchronized (outer) {
            middle.start();
            Contender.awaitBlocked(middle);
            last.start();
            Contender.awaitBlocked(last);
            System.out.println("blocked");
            System.in.read();
        }
        middle.join();
        last.join();
    }

    private void holdInner() {
        synchronized (inner) {
            wantOuter();
        }
    }

    private void wantOuter() {
        synchronized (outer) {
            Thread.yield();
        }
    }

    private void wantInner() {
        synchronized (inner) {
            Thread.yield();
        }
    }
}
