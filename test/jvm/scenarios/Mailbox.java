package scenarios;

import java.util.ArrayList;
import java.util.List;

/**
 * The blocking queue of the ICPE'16 paper's figure 1: a message is taken by one
 * method, which holds the lock, and awaited in another.
 */
final class Mailbox {
    private final List<String> messages = new ArrayList<>();

    /** Takes a message; awaits one for {@code timeoutMillis} at a time, 0 for as long as it takes. */
    String take(Held held, long timeoutMillis) {
        String message;
        synchronized (messages) {
            held.run();
            awaitNotEmpty(timeoutMillis); // @await
            message = messages.remove(0);
        } // @taken
        return message;
    }

    /** Puts a message and keeps the lock for {@code holdNanos} before it notifies. */
    void put(String message, long holdNanos) {
        synchronized (messages) { // @wanted
            Held.nanos(holdNanos);
            messages.add(message);
            messages.notifyAll();
        } // @put
    }

    /** Keeps the lock for {@code holdNanos}. */
    void inspect(long holdNanos) {
        synchronized (messages) {
            Held.nanos(holdNanos);
        } // @inspected
    }

    /** An interrupt counts as a message. */
    private void awaitNotEmpty(long timeoutMillis) {
        while (messages.isEmpty()) {
            try {
                messages.wait(timeoutMillis); // @wait
            } catch (InterruptedException e) {
                messages.add("interrupted");
            }
        }
    }
}
