package server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * A customer in front of a browser, who knows what each page has to say: nobody
 * else orders in this customer's name.
 */
final class Visitor implements Runnable {
    private static final int VISITS_PER_HISTORY = 20;
    private static final int VISITS_PER_REPORT = 50;
    private static final int ENOUGH_VISITS = 100;

    private final String shop;
    private final int customer;
    private final CountDownLatch seenEnough;
    private int visits;
    private int orders;
    private int histories;
    private int reports;
    private AssertionError complaint;

    Visitor(String shop, int customer, CountDownLatch seenEnough) {
        this.shop = shop;
        this.customer = customer;
        this.seenEnough = seenEnough;
        // Not all of them ask for the same at the same time.
        visits = customer * 7;
    }

    /** Visits one page. A wrong one is the last. */
    @Override
    public void run() {
        try {
            visit();
        } catch (AssertionError e) {
            complaint = e;
            throw e;
        }
    }

    /** Throws if a page was wrong. To be called when the visitor has left, as those below. */
    void complain() {
        if (complaint != null) {
            throw complaint;
        }
    }

    int orders() {
        return orders;
    }

    int histories() {
        return histories;
    }

    int reports() {
        return reports;
    }

    private void visit() {
        visits++;
        if (visits % VISITS_PER_REPORT == 0) {
            check(customer + ": " + spent(), get("/report").get(customer));
            reports++;
        } else if (visits % VISITS_PER_HISTORY == 0) {
            check(Integer.toString(orders), get("/history").get(0));
            histories++;
        } else {
            orders++;
            check(Integer.toString(spent()), get("/order").get(0));
        }
        if (orders + histories + reports == ENOUGH_VISITS) {
            seenEnough.countDown();
        }
    }

    private int spent() {
        return orders * ShopServlet.PRICE;
    }

    private List<String> get(String page) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                new URL(shop + page + "?customer=" + customer).openStream(), StandardCharsets.US_ASCII))) {
            return lines.lines().collect(Collectors.toList());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void check(String expected, String answer) {
        if (!answer.equals(expected)) {
            throw new AssertionError(answer + " instead of " + expected);
        }
    }
}
