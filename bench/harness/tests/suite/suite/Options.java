package suite;

import java.util.HashMap;
import java.util.Map;

/** A command line of options with values and the name of a benchmark at the end. */
public final class Options {
    private final Map<String, String> values = new HashMap<>();
    final Benchmark benchmark;

    Options(String[] arguments) {
        int last = arguments.length - 1;
        for (int i = 0; i < last; i += 2) {
            values.put(arguments[i], arguments[i + 1]);
        }
        benchmark = Benchmark.valueOf(arguments[last].toUpperCase());
    }

    String value(String option) {
        String value = values.get(option);
        if (value == null) {
            throw new IllegalArgumentException("no " + option);
        }
        return value;
    }

    int number(String option) {
        return Integer.parseInt(value(option));
    }
}
