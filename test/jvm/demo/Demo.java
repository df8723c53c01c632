package demo;

import java.util.ArrayList;
import java.util.List;

/**
 * A small order service that is slower than it should be.
 *
 * <p>Six workers share a {@link Ledger} and an {@link AuditLog}. Every order
 * and every return writes one audit line, which is slow under the log's lock;
 * the reports of worker 6 keep the ledger's table locked while they format
 * every account. A lock contention trace shows which thread holds up which, and where.
 *
 * <p>The run takes about four seconds and checks its own books at the end.
 */
public final class Demo {
    private static final int CUSTOMERS = 20_000;
    private static final int ORDER_DESKS = 3;
    private static final int RETURN_DESKS = 2;
    private static final int TURNS = 160;
    private static final int REPORTS = 20;

    private Demo() {}

    public static void main(String[] args) throws InterruptedException {
        Ledger ledger = new Ledger(CUSTOMERS);
        AuditLog auditLog = new AuditLog();
        OrderService service = new OrderService(ledger, auditLog);

        List<Worker> workers = new ArrayList<>();
        while (workers.size() < ORDER_DESKS) {
            workers.add(new OrderDesk(service, workers.size() + 1));
        }
        while (workers.size() < ORDER_DESKS + RETURN_DESKS) {
            workers.add(new ReturnsDesk(service, workers.size() + 1));
        }
        workers.add(new Controller(service, workers.size() + 1));
        for (Worker worker : workers) {
            worker.start();
        }
        for (Worker worker : workers) {
            worker.join();
        }

        int orders = ORDER_DESKS * TURNS;
        int returns = RETURN_DESKS * TURNS;
        long owed = (orders - returns) * OrderService.PRICE_CENTS;
        if (auditLog.lines() != orders + returns || ledger.total() != owed) {
            System.err.printf("The books are wrong: %d audit lines, %d cents%n", auditLog.lines(), ledger.total());
            System.exit(1);
        }
        System.out.printf("%d orders, %d returns, %d reports: the books balance%n", orders, returns, REPORTS);
    }

    /** A thread that does one kind of work, turn by turn. */
    private abstract static class Worker extends Thread {
        final OrderService service;
        private final int number;
        private final int turns;

        Worker(OrderService service, int number, int turns) {
            super("worker-" + number);
            this.service = service;
            this.number = number;
            this.turns = turns;
        }

        abstract void serve(int customer);

        @Override
        public void run() {
            for (int turn = 0; turn < turns; turn++) {
                serve((number * 7919 + turn * 31) % CUSTOMERS);
            }
        }
    }

    private static final class OrderDesk extends Worker {
        OrderDesk(OrderService service, int number) {
            super(service, number, TURNS);
        }

        @Override
        void serve(int customer) {
            service.placeOrder(customer);
        }
    }

    private static final class ReturnsDesk extends Worker {
        ReturnsDesk(OrderService service, int number) {
            super(service, number, TURNS);
        }

        @Override
        void serve(int customer) {
            service.cancelOrder(customer);
        }
    }

    private static final class Controller extends Worker {
        Controller(OrderService service, int number) {
            super(service, number, REPORTS);
        }

        @Override
        void serve(int customer) {
            service.report();
        }
    }
}
