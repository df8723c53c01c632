package scenarios;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads take orders: each reserves stock under one lock and books it under another one, holding
 * both for as long as the arguments say, in microseconds.
 *
 * <p>Prints how long they took to get each lock, by their own clock: what became of that from one
 * setting to another is the expected result of a comparison of the traces.
 */
public final class Orders {
    private static final int THREADS = 4;

    private final Stock stock = new Stock();
    private final Books books = new Books();

    private Orders() {}

    public static void main(String[] args) throws InterruptedException {
        int orders = Integer.parseInt(args[0]);
        long reserveNanos = TimeUnit.MICROSECONDS.toNanos(Long.parseLong(args[1]));
        long bookNanos = TimeUnit.MICROSECONDS.toNanos(Long.parseLong(args[2]));
        Orders shop = new Orders();
        Thread[] clerks = new Thread[THREADS];
        for (int i = 0; i < clerks.length; i++) {
            clerks[i] = new Thread(() -> {
                for (int order = 0; order < orders; order++) {
                    shop.stock.reserve(reserveNanos);
                    shop.books.book(bookNanos);
                }
            }, "clerk-" + i);
            clerks[i].start();
        }
        for (Thread clerk : clerks) {
            clerk.join();
        }
        System.out.println("blocked Stock " + shop.stock.blockedNanos);
        System.out.println("blocked Books " + shop.books.blockedNanos);
    }

    static final class Stock {
        final AtomicLong blockedNanos = new AtomicLong();

        void reserve(long nanos) {
            long start = System.nanoTime();
            synchronized (this) {
                blockedNanos.addAndGet(System.nanoTime() - start);
                Held.nanos(nanos);
            }
        }
    }

    static final class Books {
        final AtomicLong blockedNanos = new AtomicLong();

        void book(long nanos) {
            long start = System.nanoTime();
            synchronized (this) {
                blockedNanos.addAndGet(System.nanoTime() - start);
                Held.nanos(nanos);
            }
        }
    }
}
