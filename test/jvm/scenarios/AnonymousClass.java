package scenarios;

/**
 * Threads contend for an object of a VM-anonymous class, a lambda's. Prints
 * {@code class NAME}, the name as Java has it: a number follows the class file's, which
 * is an identity hash.
 */
public final class AnonymousClass {
    private AnonymousClass() {}

    public static void main(String[] args) throws Exception {
        Runnable lock = () -> {};
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                lock.run();
            }
        });
        synchronized (lock) {
            waiter.start();
            while (waiter.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
        }
        waiter.join();
        System.out.println("class " + lock.getClass().getName());
    }
}
