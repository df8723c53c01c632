package scenarios;

/**
 * An object gets its identity hash code at some time in the life of its
 * monitor; the trace must know it all the same. One object and one wait for
 * each {@link Time}, two for the last, in this order, on a lock with the hash
 * code that the program prints: {@code lock CLASS HEX}.
 */
public final class HashCodes implements Scenario {
    /** The time at which the program asks for the hash code. */
    private enum Time {
        /** Before anybody has locked the object. */
        UNLOCKED,
        /** While the owner holds the lock and nobody else wants it. */
        LOCKED,
        /** While the waiter is blocked. */
        CONTENDED,
        /** After the monitor was deflated. */
        DEFLATED,
        /** After it was deflated and contended for again. */
        CONTENDED_AGAIN
    }

    private static final int ROUNDS = 3;

    private final Time time;
    private int hash;
    private int acquired;

    private HashCodes(Time time) {
        this.time = time;
    }

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            for (Time time : Time.values()) {
                new HashCodes(time).contend();
            }
        }
    }

    private void contend() throws InterruptedException {
        hashAt(Time.UNLOCKED);
        Contend.block(this);
        // Deflates what nobody uses, like every safepoint.
        System.gc();
        hashAt(Time.DEFLATED);
        if (time == Time.CONTENDED_AGAIN) {
            Contend.block(this);
            hashAt(Time.CONTENDED_AGAIN);
            System.out.println(lockLine(this));
        }
        if (hash != System.identityHashCode(this)) {
            throw new AssertionError("the hash code of an object has changed");
        }
        System.out.println(lockLine(this));
    }

    static String lockLine(Object lock) {
        return "lock " + lock.getClass().getName() + " " + Integer.toHexString(System.identityHashCode(lock));
    }

    @Override
    public synchronized void own(Held held) {
        hashAt(Time.LOCKED);
        held.run();
    }

    @Override
    public synchronized void want() {
        acquired++;
    }

    @Override
    public void onBlocked() {
        hashAt(Time.CONTENDED);
    }

    private void hashAt(Time now) {
        if (now == time) {
            hash = System.identityHashCode(this);
        }
    }
}
