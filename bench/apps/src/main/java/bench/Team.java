package bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/** Threads that share the work of an iteration. */
public final class Team {
    /** The work of a member of a team. */
    public interface Task {
        /** Does the part of the given member, counted from 0. */
        void run(int member) throws Exception;
    }

    private Team() {}

    /**
     * Starts as many threads as given and returns when all have ended.
     *
     * @param name what the threads are named, with their number
     * @throws Exception what the first thread that failed has thrown; the others
     *     are interrupted then
     */
    public static void run(String name, int members, Task task) throws Exception {
        AtomicReference<Throwable> firstFailure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < members; i++) {
            int member = i;
            threads.add(new Thread(() -> {
                try {
                    task.run(member);
                } catch (Throwable failure) {
                    if (firstFailure.compareAndSet(null, failure)) {
                        threads.forEach(Thread::interrupt);
                    }
                }
            }, name + "-" + member));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        if (firstFailure.get() != null) {
            throw new IllegalStateException("a thread of " + name + " failed: " + firstFailure.get(), firstFailure.get());
        }
    }
}
