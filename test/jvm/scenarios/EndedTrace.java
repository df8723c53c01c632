package scenarios;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import sun.misc.Unsafe;

/**
 * Removes its trace, named by its argument, so that tracing ends while it goes on. Of
 * two monitors, threads have waited for one when that happens, and still wait for the
 * other one: in both cases the next release has a forward reference to resolve.
 *
 * <p>Prints what is in each monitor that says to compiled code whether a release concerns
 * the tracer, the upper half of a word: {@code MONITOR owned HALF} once the thread that
 * waited owns it again, {@code MONITOR released HALF} after that has released it.
 */
public final class EndedTrace {
    private static final Unsafe UNSAFE = UnsafeMonitor.theUnsafe();

    /** The length of an {@code ObjectMonitor}, in words. */
    private static final int MONITOR_LENGTH = 28;

    private EndedTrace() {}

    public static void main(String[] args) throws Exception {
        int place = placeOfWord();
        Waiting early = new Waiting("early");
        Waiting late = new Waiting("late");

        early.reacquire();
        System.out.println("early owned " + interest(early.lock, place));
        endTrace(new File(args[0]));
        late.reacquire();
        System.out.println("late owned " + interest(late.lock, place));
        for (Waiting waiting : new Waiting[] {early, late}) {
            waiting.release();
            System.out.println(waiting.name + " released " + interest(waiting.lock, place));
        }
        // The threads wait for ever.
        System.exit(0);
    }

    /**
     * A thread waits in a monitor that another one wanted before, so that its exit is an
     * event with a forward reference.
     */
    private static final class Waiting {
        final Object lock = new Object();
        final String name;
        private final CountDownLatch reacquired = new CountDownLatch(1);
        private final CountDownLatch toRelease = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
        private final CountDownLatch waits = new CountDownLatch(1);
        private final CountDownLatch toNotify = new CountDownLatch(1);

        Waiting(String name) throws Exception {
            this.name = name;
            CountDownLatch owns = new CountDownLatch(1);
            CountDownLatch wanted = new CountDownLatch(1);
            start(() -> {
                synchronized (lock) {
                    owns.countDown();
                    wanted.await();
                    lock.wait();
                    reacquired.countDown();
                    toRelease.await();
                }
                released.countDown();
            });
            owns.await();
            // Waits at last, so that the monitor stays what it is.
            Thread contender = start(() -> {
                synchronized (lock) {
                    waits.countDown();
                    toNotify.await();
                    lock.notify();
                    lock.wait();
                }
            });
            awaitBlocked(contender);
            wanted.countDown();
            waits.await();
        }

        void reacquire() throws Exception {
            toNotify.countDown();
            reacquired.await();
        }

        void release() throws Exception {
            toRelease.countDown();
            released.await();
        }
    }

    /**
     * Returns the offset of the word in a monitor, in bytes. Its lower half counts recursions,
     * which are zero. While five threads want a monitor for the first time the upper half is twice
     * that.
     */
    private static int placeOfWord() throws Exception {
        final int threads = 5;
        Object lock = new Object();
        List<Integer> places = new ArrayList<>();
        synchronized (lock) {
            lock.wait(1);
            long[] before = monitor(lock);
            for (int i = 0; i < threads; i++) {
                awaitBlocked(start(() -> {
                    synchronized (lock) {
                        lock.notify();
                    }
                }));
            }
            long[] wanted = monitor(lock);
            for (int at = 0; at < MONITOR_LENGTH; at++) {
                if (before[at] == 0 && wanted[at] == 2L * threads << Integer.SIZE) {
                    places.add(at * Long.BYTES);
                }
            }
        }
        if (places.size() != 1) {
            throw new AssertionError("the word is at " + places);
        }
        return places.get(0);
    }

    private static long[] monitor(Object lock) {
        long[] words = new long[MONITOR_LENGTH];
        for (int at = 0; at < MONITOR_LENGTH; at++) {
            words[at] = UNSAFE.getLong(address(lock) + at * Long.BYTES);
        }
        return words;
    }

    private static long interest(Object lock, int place) {
        return UNSAFE.getLong(address(lock) + place) >>> Integer.SIZE;
    }

    /** The address of an object's monitor, from its header. */
    private static long address(Object lock) {
        long header = UNSAFE.getLong(lock, 0L);
        if ((header & 3) != 2) {
            throw new AssertionError("not inflated: " + Long.toHexString(header));
        }
        return header & ~3L;
    }

    /** The tracer closes the file after it has turned tracing off. */
    private static void endTrace(File trace) throws Exception {
        Files.delete(trace.toPath());
        while (isOpen(trace)) {
            Thread.sleep(20);
        }
    }

    private static boolean isOpen(File file) throws IOException {
        for (File descriptor : new File("/proc/self/fd").listFiles()) {
            try {
                Path target = Files.readSymbolicLink(descriptor.toPath());
                if (target.toString().startsWith(file.getAbsolutePath())) {
                    return true;
                }
            } catch (NoSuchFileException e) {
                // Was the time of the directory itself.
            }
        }
        return false;
    }

    private interface Action {
        void run() throws Exception;
    }

    private static Thread start(Action action) {
        Thread thread = new Thread(() -> {
            try {
                action.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        thread.start();
        return thread;
    }

    private static void awaitBlocked(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
    }
}
