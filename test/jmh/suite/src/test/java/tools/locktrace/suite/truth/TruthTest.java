package tools.locktrace.suite.truth;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.Test;

public class TruthTest {
    private static final List<String> CHAINS = Collections.singletonList("chain");

    private final List<Holding> holdings = new ArrayList<>();

    private void holding(String thread, String lock, int wanted, int acquired, int released) {
        String line = String.join("\t", "turn", thread, lock, "1", String.valueOf(wanted),
                String.valueOf(acquired), String.valueOf(released), "0", "0");
        holdings.add(new Holding(line.split("\t"), CHAINS));
    }

    private static Map<String, Double> table(Object... namesAndSums) {
        Map<String, Double> table = new TreeMap<>();
        for (int i = 0; i < namesAndSums.length; i += 2) {
            table.put((String) namesAndSums[i], ((Number) namesAndSums[i + 1]).doubleValue());
        }
        return table;
    }

    /** The paper's Figure 3: T2 and T3 want the lock while T1 holds it. */
    @Test
    public void splitsEachWaitOverTheOwners() {
        holding("T3", "lock", 20, 72, 90);
        holding("T1", "lock", 0, 0, 40);
        holding("T2", "lock", 10, 41, 70);
        Truth truth = new Truth(holdings);
        Blame blame = truth.blame(turn -> turn.thread);
        assertEquals(30 + 20, blame.least("T1"), 0);
        assertEquals(29, blame.least("T2"), 0);
        assertEquals(0, blame.least("T3"), 0);
        assertEquals(31 + 52, blame.total(), 0);
        assertEquals(table("T1", 0, "T2", 31, "T3", 52), truth.waited(turn -> turn.thread));
    }

    /** T1 had the lock until 40 or 41, T2 from 40 or 41; T3 waited for both and until 72. */
    @Test
    public void doesNotKnowWhoHasTheLockWhileItIsHandedOver() {
        holding("T1", "lock", 0, 0, 40);
        holding("T2", "lock", 10, 41, 70);
        holding("T3", "lock", 20, 72, 90);
        Blame blame = new Truth(holdings).blame(turn -> turn.thread);
        assertEquals(1 + 1, blame.most("T1") - blame.least("T1"), 0);
        assertEquals(1 + 2, blame.most("T2") - blame.least("T2"), 0);
        assertEquals(0, blame.most("T3"), 0);
        assertEquals(1 + 1 + 2, blame.most(Blame.NOBODY), 0);
    }

    @Test
    public void keepsLocksApart() {
        holding("T1", "one", 0, 0, 40);
        holding("T2", "other", 0, 10, 50);
        Truth truth = new Truth(holdings);
        Blame blame = truth.blame(turn -> turn.thread);
        assertEquals(Collections.singleton(Blame.NOBODY), blame.owners());
        assertEquals(10, blame.handOvers(), 0);
    }

    @Test
    public void oneOwnerIsBlamedByEachWhoWaits() {
        holding("T1", "lock", 0, 0, 40);
        for (String thread : Arrays.asList("T2", "T3", "T4")) {
            holding(thread, "lock", 5, 40, 40);
        }
        Truth truth = new Truth(holdings);
        assertEquals(3 * 35, truth.blame(turn -> turn.thread).least("T1"), 0);
    }
}
