import java.net.URL;
import java.net.URLClassLoader;

/** DaCapo's main class where the harness lies in a folder of the jar, for a class loader of its own. */
public final class Harness {
    private Harness() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        URL folder = Harness.class.getClassLoader().getResource("harness/");
        ClassLoader loader = URLClassLoader.newInstance(new URL[] {folder});
        Class<?> suite = Class.forName("suite.Dacapo", true, loader);
        suite.getMethod("main", String[].class).invoke(null, (Object) arguments);
    }
}
