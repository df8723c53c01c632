package tools.locktrace.suite;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.junit.Test;
import tools.locktrace.suite.truth.Blame;

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

    /** For 90 a held the lock, for 10 nobody did; what the trace gives to b is wrong. */
    @Test
    public void whatIsGivenToNobodyIsNotWrong() {
        Blame truth = new Blame();
        truth.hold("a", 90);
        truth.handOver(10, Blame.NOBODY, Collections.singleton("a"));
        Map<String, Double> traced = table(80, 3);
        traced.put(Blame.NOBODY, 17.0);
        assertTrue(Check.wrong("wrong", truth, traced, 3.1).passes());
        assertFalse(Check.wrong("wrong", truth, traced, 2.9).passes());
        traced.remove("b");
        assertTrue(Check.wrong("wrong", truth, traced, 0).passes());
        assertTrue(Check.shares("shares", truth, traced, 7.6).passes());
        assertFalse(Check.shares("shares", truth, traced, 7.4).passes());
    }

    @Test
    public void aNumberMayBeOutsideOfItsLimitsByTheTolerance() {
        assertTrue(Check.between("waits", 80, 100, 90, 0).passes());
        assertTrue(Check.between("waits", 80, 100, 76, 6).passes());
        assertFalse(Check.between("waits", 80, 100, 76, 4).passes());
        assertTrue(Check.between("waits", 80, 100, 105, 6).passes());
        assertFalse(Check.between("waits", 80, 100, 105, 4).passes());
    }
}
