package tools.locktrace.suite;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import org.junit.Test;

public class CheckTest {
    private static Map<String, Double> table(double a, double b) {
        Map<String, Double> table = new TreeMap<>();
        table.put("a", a);
        table.put("b", b);
        return table;
    }

    private static boolean passes(Map<String, Double> truth, Map<String, Double> traced) {
        return Check.shares("shares", truth, traced, 5).passes();
    }

    @Test
    public void sharesMayDifferByTheTolerance() {
        assertTrue(passes(table(50, 50), table(910, 1090)));
        assertFalse(passes(table(50, 50), table(890, 1110)));
    }

    @Test
    public void nobodyMayBeMissing() {
        Map<String, Double> truth = new TreeMap<>();
        for (int i = 0; i < 1000; i++) {
            truth.put("chain " + i, 1.0);
        }
        Map<String, Double> traced = new TreeMap<>(truth);
        assertTrue(passes(truth, traced));
        traced.remove("chain 7");
        assertFalse(passes(truth, traced));
    }

    @Test
    public void nobodyMayBeMadeUp() {
        Map<String, Double> traced = table(50, 50);
        traced.put("c", 0.001);
        assertFalse(passes(table(50, 50), traced));
    }

    @Test
    public void anEmptyTraceFails() {
        assertFalse(passes(table(50, 50), new TreeMap<>()));
        assertFalse(Check.total("total", 100, 0, 5).passes());
        assertFalse(Check.total("total", 0, 0, 5).passes());
    }

    @Test
    public void totalsMayDifferByTheTolerance() {
        assertTrue(Check.total("total", 100, 104, 5).passes());
        assertFalse(Check.total("total", 100, 94, 5).passes());
    }
}
