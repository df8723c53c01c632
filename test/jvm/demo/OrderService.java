package demo;

import java.util.concurrent.locks.LockSupport;

/** Takes orders and returns, and books both. */
final class OrderService {
    static final long PRICE_CENTS = 1_995;

    private static final long CHECK_ORDER_NANOS = 1_000_000;
    private static final long PREPARE_REPORT_NANOS = 60_000_000;

    private final Ledger ledger;
    private final AuditLog auditLog;

    OrderService(Ledger ledger, AuditLog auditLog) {
        this.ledger = ledger;
        this.auditLog = auditLog;
    }

    void placeOrder(int customer) {
        LockSupport.parkNanos(CHECK_ORDER_NANOS);
        ledger.credit(customer, PRICE_CENTS);
        auditLog.append("order of customer " + customer);
    }

    void cancelOrder(int customer) {
        LockSupport.parkNanos(CHECK_ORDER_NANOS);
        ledger.credit(customer, -PRICE_CENTS);
        auditLog.append("return of customer " + customer);
    }

    String report() {
        LockSupport.parkNanos(PREPARE_REPORT_NANOS);
        return ledger.formatStatement();
    }
}
