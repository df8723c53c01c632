package suite;

import org.dacapo.harness.Callback;
import org.dacapo.harness.CommandLineArgs;

/** Has DaCapo's command line, and calls callbacks as DaCapo does. */
public final class Dacapo {
    private Dacapo() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        if (arguments[0].equals("-l")) {
            Benchmark.list(" ");
            return;
        }
        Options options = new Options(arguments);
        options.number("-t");
        options.value("-s");
        Callback callback = Class.forName(options.value("-c")).asSubclass(Callback.class)
                .getConstructor(CommandLineArgs.class).newInstance(new CommandLineArgs());
        String name = options.benchmark.toString();
        boolean valid = true;
        for (int iteration = 1; iteration <= options.number("-n"); iteration++) {
            callback.start(name);
            boolean isRight = options.benchmark.iterate(iteration);
            callback.stop(0);
            callback.complete(name, isRight);
            valid &= isRight;
        }
        System.exit(valid ? 0 : -2);
    }
}
