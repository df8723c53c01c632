package scenarios;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * A class is redefined while its methods are on the stack of the owner and of
 * the waiter. They go on in the old version, to which the owner's exit belongs.
 *
 * <p>Runs with itself as Java agent. The property {@code scenarios.redefined}
 * names the class file of the other version of {@link Redefined}.
 *
 * <p>The trace must show one wait a round in and because of the version that
 * the program prints: {@code version NUMBER}.
 */
public final class Redefinition implements Scenario {
    private static final int ROUNDS = 12;
    private static final int WARM_UP = 15_000;

    /** Null unless this class is the Java agent. */
    static Instrumentation instrumentation;

    private final Redefined redefined = new Redefined();
    private final byte[][] versions;
    private int version;

    private Redefinition(byte[]... versions) {
        this.versions = versions;
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        Redefinition.instrumentation = instrumentation;
    }

    public static void main(String[] args) throws Exception {
        byte[] first = MemoryPressure.read("scenarios/Redefined.class");
        byte[] other = Files.readAllBytes(Paths.get(System.getProperty("scenarios.redefined")));
        new Redefinition(first, other).run();
    }

    private void run() throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            System.out.println("version " + version);
            for (int i = 0; i < WARM_UP; i++) {
                own(Held.NOT_AT_ALL);
                want();
            }
            Contend.block(this);
            // Frees old versions that no thread executes any more.
            System.gc();
        }
    }

    @Override
    public void own(Held held) {
        redefined.hold(held);
    }

    @Override
    public void want() {
        redefined.pass();
    }

    @Override
    public void onBlocked() {
        version = 1 - version;
        try {
            instrumentation.redefineClasses(new ClassDefinition(Redefined.class, versions[version]));
        } catch (ClassNotFoundException | UnmodifiableClassException e) {
            throw new AssertionError(e);
        }
    }
}
