package scenarios;

import java.util.concurrent.FutureTask;

/**
 * Threads that live for one request, one after the other. Each waits for a lock that nobody else
 * ever waits for, while another thread waits for what it makes.
 *
 * <p>Prints how many there were, and how many waited for their lock.
 */
public final class ShortLives {
    private static int used;

    private ShortLives() {
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        for (int number = 0; number < threads; number++) {
            request();
        }
        System.out.println("lived " + threads + " " + used);
    }

    private static void request() throws Exception {
        Object lock = new Object();
        FutureTask<Integer> task = new FutureTask<>(() -> use(lock));
        Thread thread = new Thread(task);
        Thread reader = new Thread(() -> read(task));
        synchronized (lock) {
            reader.start();
            await(reader, Thread.State.WAITING);
            thread.start();
            await(thread, Thread.State.BLOCKED);
        }
        thread.join();
        reader.join();
    }

    private static int use(Object lock) {
        synchronized (lock) {
            return ++used;
        }
    }

    private static void read(FutureTask<Integer> task) {
        try {
            task.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.yield();
        }
    }
}
