package pairs;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A contended program, and the same one with the cause of its contention remedied: what the remedy
 * brings is what was to be predicted from a trace of the first one.
 *
 * <p>Arguments: the class of the program without {@code pairs.}, and {@code before} or {@code after}.
 * Each of its threads does the same number of turns in both. Prints how many nanoseconds all of them
 * together took, from the start of the first to the end of the last.
 */
public abstract class Program {
    private final int threads;
    private final int turns;

    protected Program(int threads, int turns) {
        this.threads = threads;
        this.turns = turns;
    }

    /** Returns the number of turns of a thread. */
    protected int turns(int thread) {
        return turns;
    }

    /** Does the work of a thread in a turn. */
    protected abstract void turn(Random random, int thread, int turn) throws Exception;

    /** Ends what the program has started. Throws if its work was not done. */
    protected void end() throws Exception {}

    public static void main(String[] args) throws Exception {
        boolean isAfter = args[1].equals("after");
        Class<?> type = Class.forName("pairs." + args[0]);
        Program program = (Program) type.getConstructor(boolean.class).newInstance(isAfter);
        long nanos = program.run();
        program.end();
        System.out.println("elapsed " + nanos);
    }

    private long run() throws Exception {
        AtomicReference<Exception> failure = new AtomicReference<>();
        List<Thread> workers = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            workers.add(new Thread(() -> {
                try {
                    work(number);
                } catch (Exception e) {
                    failure.set(e);
                }
            }, "worker-" + number));
        }
        long start = System.nanoTime();
        workers.forEach(Thread::start);
        for (Thread worker : workers) {
            worker.join();
        }
        long nanos = System.nanoTime() - start;
        if (failure.get() != null) {
            throw failure.get();
        }
        return nanos;
    }

    private void work(int thread) throws Exception {
        Random random = new Random(thread);
        int turns = turns(thread);
        for (int turn = 0; turn < turns; turn++) {
            turn(random, thread, turn);
        }
    }
}
