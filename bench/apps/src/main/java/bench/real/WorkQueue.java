package bench.real;

import java.util.LinkedList;

/** Numbers of tasks, for threads that wait for them. */
final class WorkQueue {
    private static final int CAPACITY = 20;

    private final LinkedList<Integer> tasks = new LinkedList<>();

    synchronized void put(int task) throws InterruptedException {
        while (tasks.size() == CAPACITY) {
            wait();
        }
        tasks.add(task);
        notifyAll();
    }

    synchronized int take() throws InterruptedException {
        while (tasks.isEmpty()) {
            wait();
        }
        notifyAll();
        return tasks.removeFirst();
    }
}
