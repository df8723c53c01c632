package scenarios;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import sun.management.ManagementFactoryHelper;
import sun.misc.Unsafe;

/**
 * Thousands of VM-anonymous classes, each with a loader of its own inside of the VM, are
 * unloaded by one collection, and with them some {@link Plugin} classes that threads
 * have blocked each other on.
 *
 * <p>Arguments: how many VM-anonymous classes, how many plugins.
 *
 * <p>Prints {@code unloaded COUNT}, of classes, and {@code safepoints COUNT}: a collection that is
 * mostly concurrent has several.
 */
public final class AnonymousClasses {
    private AnonymousClasses() {}

    public static void main(String[] args) throws Exception {
        List<Object> alive = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            alive.add(Unloading.blockOnce());
        }
        defineAnonymous(Integer.parseInt(args[0]), alive);
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        long unloadedBefore = classes.getUnloadedClassCount();
        alive.clear();
        System.gc();
        System.out.println("unloaded " + (classes.getUnloadedClassCount() - unloadedBefore));
        System.out.println("safepoints " + ManagementFactoryHelper.getHotspotRuntimeMBean().getSafepointCount());
    }

    private static void defineAnonymous(int count, List<Object> classes) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        byte[] bytes = classFile("Plugin.class");
        for (int i = 0; i < count; i++) {
            classes.add(unsafe.defineAnonymousClass(AnonymousClasses.class, bytes, null));
        }
    }

    private static byte[] classFile(String name) throws IOException {
        try (InputStream in = AnonymousClasses.class.getResourceAsStream(name)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (int next = in.read(); next >= 0; next = in.read()) {
                bytes.write(next);
            }
            return bytes.toByteArray();
        }
    }
}
