package bench.real;

import bench.Application;
import bench.Settings;
import bench.WrongResult;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.python.core.PySystemState;
import org.python.util.PythonInterpreter;

/** A Python program in Jython, of the kinds of work that interpreters are compared by. */
public final class Jython implements Application {
    private static final int ROUNDS = 150;
    /** The result of a round in any implementation of Python. */
    private static final long RESULT_PER_ROUND = 28_763_608;

    private final int rounds;
    private final PythonInterpreter interpreter;
    private long result;

    public Jython(Settings settings) throws IOException {
        rounds = settings.work(ROUNDS);
        Properties properties = new Properties();
        properties.setProperty("python.cachedir.skip", "true");
        PySystemState.initialize(System.getProperties(), properties);
        interpreter = new PythonInterpreter();
        try (InputStream program = Jython.class.getResourceAsStream("interpreted.py")) {
            interpreter.execfile(program, "interpreted.py");
        }
    }

    @Override
    public void iterate() {
        result = interpreter.eval("run(" + rounds + ")").asLong();
    }

    @Override
    public void check() throws WrongResult {
        WrongResult.unlessEqual("result", rounds * RESULT_PER_ROUND, result);
    }

    @Override
    public void close() {
        interpreter.close();
    }
}
