package scenarios;

/**
 * Monitors are deflated and used again for other objects. In each round a
 * thread "waiter" is blocked on a new object, now of one class, now of another;
 * then all monitors are deflated.
 *
 * <p>The trace must show one wait a round on the object that the program
 * prints: {@code lock CLASS HEX}.
 */
public final class MonitorReuse {
    private static final int ROUNDS = 30;

    private MonitorReuse() {}

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            // A sequence without a period, as that in which monitors come back has one.
            Lock lock = Integer.bitCount(round) % 2 == 0 ? new EvenLock() : new OddLock();
            Contend.block(lock);
            System.gc();
            System.out.println(HashCodes.lockLine(lock));
        }
    }

    private abstract static class Lock implements Scenario {
        private int acquired;

        @Override
        public synchronized void own(Held held) {
            held.run();
        }

        @Override
        public synchronized void want() {
            acquired++;
        }
    }

    private static final class EvenLock extends Lock {}

    private static final class OddLock extends Lock {}
}
