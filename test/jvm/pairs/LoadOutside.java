package pairs;

import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All threads want one entry of a cache, which ends now and then: the first one loads it anew, under
 * the lock of its bin. Or the old one serves until it is replaced.
 */
public final class LoadOutside extends Program {
    private static final String RATES = "rates";
    private static final int TURNS_PER_LOAD = 12;

    private final boolean isOutside;
    private final ConcurrentHashMap<String, Integer> cache = new ConcurrentHashMap<>();

    public LoadOutside(boolean isAfter) {
        super(8, 120);
        isOutside = isAfter;
        cache.put(RATES, 0);
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 2_000);
        boolean hasEnded = (turn + thread) % TURNS_PER_LOAD == 0;
        if (!isOutside) {
            if (hasEnded) {
                cache.remove(RATES);
            }
            cache.computeIfAbsent(RATES, key -> load(random));
        } else if (hasEnded) {
            cache.put(RATES, load(random));
        } else {
            cache.get(RATES);
        }
    }

    private static int load(Random random) {
        Work.pause(random, 30_000);
        return random.nextInt();
    }
}
