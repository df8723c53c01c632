package scenarios;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Threads contend deep in stacks whose frames are of every kind, and leave the
 * frames below by a return or by an exception.
 *
 * <p>Arguments: which kinds of frames, see {@link #kinds}; how many random
 * {@link CallPlan}s to add to those that have each kind called by each other; the
 * seed of the random numbers; and what happens besides, see {@link #encounter}.
 *
 * <p>Each plan goes once without contention and once with it. What happens
 * must be the same, to the last frame of each exception's stack trace.
 *
 * <p>The trace must show what {@link Contender} and {@link Waiters} say.
 *
 * <p>Prints {@code plans COUNT}, {@code exceptions COUNT} and {@code outcomes
 * HEX}, a hash of all that has happened: the same in whatever way the JVM
 * executes.
 */
public final class CallPlans {
    /** Compiling everything again takes a hundred times as long as a meeting. */
    private static final int MEETINGS_PER_BESIDES = 25;

    private final Random random;
    private final List<Supplier<Step>> kinds;
    private final Contender contender = new Contender();
    private final Waiters waiters = new Waiters();
    private final Encounter encounter;
    private int plans;
    private int exceptions;
    private int outcomes;

    private CallPlans(List<Supplier<Step>> kinds, long seed, String besides) {
        this.kinds = kinds;
        random = new Random(seed);
        encounter = encounter(besides);
    }

    public static void main(String[] args) {
        CallPlans plans = new CallPlans(kinds(args[0]), Long.parseLong(args[2]), args[3]);
        if (args[3].equals("watched")) {
            new Watcher().start();
        }
        plans.run(Integer.parseInt(args[1]));
    }

    private static List<Supplier<Step>> kinds(String which) {
        List<Supplier<Step>> kinds = new ArrayList<>();
        switch (which) {
            case "frames":
                compiled(kinds, "PassingStep0", "CatchingStep0", "LockingStep0");
                Collections.addAll(kinds, NativeStep::new, LockingNativeStep::new, PrivilegedStep::new, ReflectiveStep::new);
                break;
            case "handles":
                compiled(kinds, "PassingStep0");
                for (HandleStep.Form form : HandleStep.Form.values()) {
                    kinds.add(() -> HandleStep.of(form));
                }
                kinds.add(HandleStep::lambda);
                break;
            default:
                throw new IllegalArgumentException(which);
        }
        return kinds;
    }

    private static void compiled(List<Supplier<Step>> kinds, String... templates) {
        for (Compilation compilation : Compilation.values()) {
            for (String template : templates) {
                Class<?> type = compilation.define(template);
                kinds.add(() -> {
                    compilation.apply(type);
                    return instance(type);
                });
            }
        }
    }

    private static Step instance(Class<?> type) {
        try {
            return (Step) type.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The meeting, and what may happen at once after it, while the return barriers that it left are on the stack. */
    private Encounter encounter(String besides) {
        switch (besides) {
            case "alone":
            case "watched":
                return contender;
            case "deoptimized":
                return () -> meetAnd(Compilation::throwAway);
            case "collected":
                return () -> meetAnd(System::gc);
            default:
                throw new IllegalArgumentException(besides);
        }
    }

    private void meetAnd(Runnable besides) {
        contender.meet();
        if (contender.meetings() % MEETINGS_PER_BESIDES == 0) {
            besides.run();
        }
    }

    private void run(int more) {
        for (int round = 0; round < 2; round++) {
            warmUp();
        }
        for (Supplier<Step> outer : kinds) {
            for (Supplier<Step> inner : kinds) {
                execute(pair(outer, inner));
            }
        }
        for (int i = 0; i < more; i++) {
            CallPlan plan = new CallPlan(steps(2 + random.nextInt(12), new ArrayList<>()), anyEnd());
            plan.addEncounters(random, encounter);
            execute(plan);
        }
        waiters.join();
        waiters.print();
        contender.print();
        System.out.println("plans " + plans);
        System.out.println("exceptions " + exceptions);
        System.out.println("outcomes " + Integer.toHexString(outcomes));
    }

    /** Loads classes and links methods before they are compiled. */
    private void warmUp() {
        for (CallPlan.End end : CallPlan.End.values()) {
            for (Supplier<Step> kind : kinds) {
                new CallPlan(steps(1, Arrays.asList(kind, kind)), end).execute(false);
            }
        }
    }

    /** A plan in which the thread meets its contender in a frame that an exception then leaves for the frame below. */
    private CallPlan pair(Supplier<Step> outer, Supplier<Step> inner) {
        int inFront = random.nextInt(5);
        int behind = random.nextInt(3);
        List<Supplier<Step>> path = new ArrayList<>(Arrays.asList(outer, inner));
        for (int i = 0; i < behind; i++) {
            path.add(any());
        }
        CallPlan.End[] exceptional = {CallPlan.End.THROW, CallPlan.End.NULL, CallPlan.End.ZERO};
        CallPlan plan = new CallPlan(steps(inFront, path), exceptional[random.nextInt(exceptional.length)]);
        plan.addEncounters(random, encounter);
        for (int depth = inFront + 1; depth < inFront + path.size(); depth++) {
            plan.passExceptionsAt(depth);
        }
        plan.arriveWith(inFront + 1, encounter);
        if (random.nextBoolean()) {
            plan.addWaitersAt(inFront + 1, waiters);
        }
        return plan;
    }

    /** Random steps, and then given ones. */
    private Step[] steps(int inFront, List<Supplier<Step>> path) {
        Step[] steps = new Step[inFront + path.size()];
        for (int i = 0; i < steps.length; i++) {
            steps[i] = (i < inFront ? any() : path.get(i - inFront)).get();
        }
        return steps;
    }

    private Supplier<Step> any() {
        return kinds.get(random.nextInt(kinds.size()));
    }

    private CallPlan.End anyEnd() {
        return CallPlan.End.values()[random.nextInt(CallPlan.End.values().length)];
    }

    private void execute(CallPlan plan) {
        List<List<String>> found = new ArrayList<>();
        for (boolean eventful : new boolean[] {false, true}) {
            found.add(plan.execute(eventful));
        }
        List<String> expected = found.get(0);
        if (!expected.equals(found.get(1))) {
            throw new AssertionError("expected " + expected + "\nfound    " + found.get(1));
        }
        plans++;
        exceptions += expected.stream().filter(line -> !line.startsWith("returned")).count();
        outcomes = 31 * outcomes + expected.hashCode();
    }

    /** Looks at the stacks of all threads again and again. */
    private static final class Watcher extends Thread {
        private static final int LOOKS_PER_COLLECTION = 20;

        Watcher() {
            super("watcher");
            setDaemon(true);
        }

        @Override
        public void run() {
            for (int look = 1; ; look++) {
                Contender.sleep();
                check(getAllStackTraces().values());
                ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
                if (look % LOOKS_PER_COLLECTION == 0) {
                    System.gc();
                }
            }
        }

        /** The stack of every traveller reaches down to the main method. */
        private static void check(Iterable<StackTraceElement[]> stacks) {
            for (StackTraceElement[] stack : stacks) {
                boolean travels = Arrays.stream(stack).anyMatch(frame -> frame.getMethodName().equals("execute"));
                if (travels && !stack[stack.length - 1].getMethodName().equals("main")) {
                    System.out.println("cut " + Arrays.toString(stack));
                    Runtime.getRuntime().halt(1);
                }
            }
        }
    }
}
