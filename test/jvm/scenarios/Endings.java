package scenarios;

/**
 * A program that has seen contention ends in one of many ways, named by its
 * argument. Before that, a thread "owner" has blocked a thread "waiter"
 * {@value #ROUNDS} times, a garbage collection has handed in all trace buffers,
 * and the line {@code contended} is printed.
 */
public final class Endings {
    private static final int ROUNDS = 10;

    private Endings() {}

    public static void main(String[] args) throws Exception {
        contend();
        System.gc();
        System.out.println("contended");
        switch (args[0]) {
            case "return":
                break;
            case "exit":
                System.exit(3);
                break;
            case "halt":
                Runtime.getRuntime().halt(4);
                break;
            case "throw":
                throw new IllegalStateException("uncaught, on purpose");
            case "crash":
                UnsafeMonitor.theUnsafe().putAddress(0, 1);
                break;
            case "hang":
                Thread.sleep(Long.MAX_VALUE);
                break;
            case "await-input":
                System.in.read();
                contend();
                System.out.println("contended again");
                break;
            case "collect":
                collectForEver();
                System.out.println("main returns");
                break;
            case "list-files":
                listOpenFiles();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    /** Another thread does, until the JVM is gone. */
    private static void collectForEver() {
        Thread collector = new Thread(() -> {
            while (true) {
                System.gc();
                System.out.println("collected");
            }
        });
        collector.setDaemon(true);
        collector.start();
    }

    private static void contend() throws InterruptedException {
        Scenario scenario = new SynchronizedBlock();
        for (int round = 0; round < ROUNDS; round++) {
            Contend.block(scenario);
        }
    }

    /** Lists the files that children inherit, once by way of the JDK and once by {@code system()}. */
    private static void listOpenFiles() throws Exception {
        int status = new ProcessBuilder("ls", "-l", "/proc/self/fd").inheritIO().start().waitFor();
        Natives.load();
        if (status != 0 || Natives.system("ls -l /proc/self/fd") != 0) {
            throw new AssertionError("cannot list open files");
        }
    }
}
