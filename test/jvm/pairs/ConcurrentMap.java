package pairs;

import java.util.Hashtable;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/** Entries of a table are computed under the lock of a {@code Hashtable}; or of their bin in a {@code ConcurrentHashMap}. */
public final class ConcurrentMap extends Program {
    private static final int KEYS = 1_000;

    private final Map<Integer, Integer> table;

    public ConcurrentMap(boolean isAfter) {
        super(8, 200);
        table = isAfter ? new ConcurrentHashMap<>(KEYS) : new Hashtable<>(KEYS);
        for (int key = 0; key < KEYS; key++) {
            table.put(key, 0);
        }
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 3_000);
        table.compute(random.nextInt(KEYS), (key, value) -> {
            Work.pause(random, 1_500);
            return value + 1;
        });
    }
}
