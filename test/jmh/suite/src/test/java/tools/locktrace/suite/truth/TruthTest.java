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
    private static final List<String> CHAINS = Arrays.asList("waiting", "releasing");

    private final List<Holding> holdings = new ArrayList<>();

    private void holding(String thread, String lock, int wanted, int acquired, int released) {
        holding(thread, lock, Demand.WHOLE, wanted, acquired, released);
    }

    private void holding(String thread, String lock, Demand demand, int wanted, int acquired, int released) {
        String line = String.join("\t", "turn", thread, lock, "1", String.valueOf(wanted),
                String.valueOf(acquired), String.valueOf(released), "0", "1",
                String.valueOf(demand.units), String.valueOf(demand.of));
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

    /** The last reader lets the writer in, behind which later readers queue. */
    @Test
    public void readersAndWritersBlockEachOther() {
        holding("R1", "lock", Demand.READ, 0, 0, 40);
        holding("R2", "lock", Demand.READ, 5, 5, 60);
        holding("W1", "lock", Demand.WRITE, 10, 61, 80);
        holding("W2", "lock", Demand.WRITE, 20, 81, 90);
        holding("R3", "lock", Demand.READ, 30, 92, 95);
        Blame blame = new Truth(holdings).blame(turn -> turn.thread);
        assertEquals(0, blame.most("R1"), 0);
        assertEquals("R3 queues behind W1, which waits for R2",
                (60 - 10) + (60 - 20) + (60 - 30), blame.least("R2"), 0);
        assertEquals("W1 is before W2 and R3", 2 * (80 - 61), blame.least("W1"), 0);
        assertEquals(90 - 81, blame.least("W2"), 0);
        assertEquals(3 * 1 + 2 * 1 + 2, blame.handOvers(), 0);
        assertEquals(new Truth(holdings).waitedNanos(), blame.total(), 0);
    }

    /** Readers that wait for nothing but that they are woken. */
    @Test
    public void readersDoNotBlockReaders() {
        holding("W", "lock", Demand.WRITE, 0, 0, 40);
        holding("R1", "lock", Demand.READ, 10, 41, 70);
        holding("R2", "lock", Demand.READ, 20, 45, 60);
        Blame blame = new Truth(holdings).blame(turn -> turn.thread);
        assertEquals((40 - 10) + (40 - 20), blame.least("W"), 0);
        assertEquals(0, blame.most("R1"), 0);
        assertEquals(1 + 5, blame.handOvers(), 0);
    }

    /** The thread whose permit is the first to be free has kept the others waiting. */
    @Test
    public void oneOfTwoPermits() {
        Demand permit = Demand.permitOf(2);
        holding("T1", "lock", permit, 0, 0, 80);
        holding("T2", "lock", permit, 0, 0, 40);
        holding("T3", "lock", permit, 10, 41, 70);
        holding("T4", "lock", permit, 20, 72, 90);
        Blame blame = new Truth(holdings).blame(turn -> turn.thread);
        assertEquals(0, blame.most("T1"), 0);
        assertEquals((40 - 10) + (40 - 20), blame.least("T2"), 0);
        assertEquals(70 - 41, blame.least("T3"), 0);
        assertEquals(1 + 1 + 2, blame.handOvers(), 0);
    }

    @Test
    public void knowsWhoWasBlockedByWhom() {
        holding("T1", "lock", 0, 0, 40);
        holding("T2", "lock", 10, 41, 70);
        holding("T3", "lock", 20, 72, 90);
        Blame blame = new Truth(holdings).blameByPairs();
        assertEquals(40 - 10, blame.least("T2 blocked by T1"), 0);
        assertEquals(40 - 20, blame.least("T3 blocked by T1"), 0);
        assertEquals(70 - 41, blame.least("T3 blocked by T2"), 0);
        assertEquals(0, blame.most("T2 blocked by T3"), 0);
        assertEquals(1, blame.most("T2 blocked by nobody"), 0);
        assertEquals(1 + 1 + 2, blame.handOvers(), 0);
    }

    /** T1 comes back before T2 is awake: 10 longer than the fastest of the naps, on average. */
    @Test
    public void whoIsWokenMayNotSeeAtOnceThatItIsOvertaken() {
        String lock = "1@java.util.concurrent.locks.ReentrantLock$NonfairSync";
        holding("T1", lock, 0, 0, 40);
        holding("T2", lock, 10, 130, 160);
        holding("T1", lock, 42, 42, 92);
        Blame blame = new Truth(holdings).blame(turn -> turn.thread);
        assertEquals(40 - 10 + 50 - 10, blame.least("T1"), 0);
        assertEquals(40 - 10 + 130 - 40, blame.most("T1"), 0);
        assertEquals(2 + 10 + 130 - 92, blame.most(Blame.NOBODY), 0);
    }
}
