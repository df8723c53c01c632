package tools.locktrace.suite;

import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import tools.locktrace.suite.shapes.Holds;
import tools.locktrace.suite.shapes.InlinedLocks;
import tools.locktrace.suite.shapes.LockKind;
import tools.locktrace.suite.shapes.Mailbox;
import tools.locktrace.suite.shapes.NestedLocks;
import tools.locktrace.suite.shapes.ReadWriteKind;
import tools.locktrace.suite.shapes.ReadersAndWriters;
import tools.locktrace.suite.shapes.SharedLocks;
import tools.locktrace.suite.shapes.TimedWaits;

/** The cases to run, and their durations. */
enum Setting {
    /** Every shape once, with monitors and locks that park. */
    QUICK(1000, 1, 1500) {
        @Override
        List<SuiteCase> cases() {
            List<SuiteCase> cases = new ArrayList<>();
            cases.add(shared(4, Holds.GEOMETRIC));
            cases.add(chains(8, 100, 50, Holds.ONE_LONG));
            cases.add(locks(12, 4));
            cases.add(sharedOf(LockKind.REENTRANT_LOCK, 4));
            cases.add(sharedOf(LockKind.SEMAPHORE, 4));
            cases.add(ofKind(LockKind.FAIR_REENTRANT_LOCK, chains(8, 100, 50, Holds.ONE_LONG)));
            cases.add(readersAndWriters(ReadWriteKind.REENTRANT, 4, 2));
            cases.add(SuiteCase.of(InlinedLocks.class, 4));
            cases.add(SuiteCase.of(NestedLocks.class, 6));
            cases.add(SuiteCase.ofGroup(Mailbox.class, "mailbox", 2, 3).notified());
            cases.add(SuiteCase.of(TimedWaits.class, 8));
            return cases;
        }
    },
    /** Every shape and every kind of lock once. */
    SHORT(1000, 1, 1500) {
        @Override
        List<SuiteCase> cases() {
            List<SuiteCase> cases = new ArrayList<>();
            cases.add(shared(2, Holds.UNIFORM));
            cases.add(shared(4, Holds.GEOMETRIC));
            cases.add(shared(8, Holds.ONE_LONG).with("think", 4));
            cases.add(shared(32, Holds.UNIFORM));
            cases.add(chains(4, 4, 4, Holds.GEOMETRIC));
            cases.add(chains(8, 100, 50, Holds.ONE_LONG));
            cases.add(chains(8, 1000, 200, Holds.UNIFORM));
            cases.add(locks(12, 4));
            for (LockKind kind : LockKind.values()) {
                if (kind != LockKind.BLOCK) {
                    cases.add(sharedOf(kind, 4));
                }
            }
            cases.add(SuiteCase.of(InlinedLocks.class, 4));
            cases.add(ofKind(LockKind.FAIR_REENTRANT_LOCK, chains(8, 100, 50, Holds.ONE_LONG)));
            cases.add(ofKind(LockKind.REENTRANT_LOCK, shared(8, Holds.GEOMETRIC)));
            for (ReadWriteKind kind : ReadWriteKind.values()) {
                cases.add(readersAndWriters(kind, 4, 2));
            }
            cases.add(SuiteCase.of(NestedLocks.class, 6));
            cases.add(SuiteCase.ofGroup(Mailbox.class, "mailbox", 2, 3).notified());
            cases.add(SuiteCase.of(TimedWaits.class, 8));
            return cases;
        }
    },
    /** Many combinations. */
    FULL(2000, 2, 2000) {
        @Override
        List<SuiteCase> cases() {
            List<SuiteCase> cases = new ArrayList<>();
            for (int threads : new int[] {2, 4, 8, 16, 32}) {
                for (Holds holds : Holds.values()) {
                    cases.add(shared(threads, holds));
                    // Fewer threads that think do not block each other.
                    if (threads >= 8) {
                        cases.add(shared(threads, holds).with("think", 4));
                    }
                }
            }
            int[][] numbersAndDepths = {{1, 2}, {2, 2}, {1, 200}, {10, 5}, {100, 10}, {100, 200}, {1000, 11}, {1000, 200}};
            for (int[] numberAndDepth : numbersAndDepths) {
                for (Holds holds : Holds.values()) {
                    cases.add(chains(8, numberAndDepth[0], numberAndDepth[1], holds));
                }
            }
            for (int locks : new int[] {2, 4, 8}) {
                cases.add(locks(32, locks));
            }
            for (LockKind kind : LockKind.values()) {
                for (int threads : new int[] {2, 4, 32}) {
                    // Two threads that think hardly wait for each other.
                    if (threads > 2 || !kind.parks()) {
                        cases.add(sharedOf(kind, threads));
                    }
                }
                cases.add(ofKind(kind, chains(8, 100, 20, Holds.GEOMETRIC)));
                cases.add(ofKind(kind, SuiteCase.of(InlinedLocks.class, kind.parks() ? 8 : 4)));
            }
            for (ReadWriteKind kind : ReadWriteKind.values()) {
                for (int[] group : new int[][] {{2, 1}, {1, 2}, {8, 1}, {8, 8}}) {
                    cases.add(readersAndWriters(kind, group));
                }
            }
            for (int levels : new int[] {2, 4, 8}) {
                cases.add(SuiteCase.of(NestedLocks.class, 2 * levels).with("levels", levels));
            }
            int[][] consumersAndProducers = {{1, 1}, {4, 1}, {1, 4}, {8, 8}};
            for (int[] group : consumersAndProducers) {
                cases.add(SuiteCase.ofGroup(Mailbox.class, "mailbox", group).notified());
            }
            for (int threads : new int[] {8, 16}) {
                cases.add(SuiteCase.of(TimedWaits.class, threads));
            }
            return cases;
        }
    };

    private final int warmUpMillis;
    private final int measurements;
    private final int measurementMillis;

    Setting(int warmUpMillis, int measurements, int measurementMillis) {
        this.warmUpMillis = warmUpMillis;
        this.measurements = measurements;
        this.measurementMillis = measurementMillis;
    }

    abstract List<SuiteCase> cases();

    void configure(ChainedOptionsBuilder options) {
        options.warmupIterations(1).warmupTime(TimeValue.milliseconds(warmUpMillis));
        options.measurementIterations(measurements).measurementTime(TimeValue.milliseconds(measurementMillis));
    }

    private static SuiteCase shared(int threads, Holds holds) {
        return SuiteCase.of(SharedLocks.class, threads).with("holds", holds);
    }

    private static SuiteCase sharedOf(LockKind kind, int threads) {
        SuiteCase kindCase = ofKind(kind, shared(threads, Holds.GEOMETRIC));
        return kind.parks() ? kindCase.with("burst", 2) : kindCase;
    }

    private static SuiteCase ofKind(LockKind kind, SuiteCase suiteCase) {
        // A thread that wants such a lock again at once finds it free nearly always: others get it
        // only while that thread thinks.
        return (kind.parks() ? suiteCase.with("think", 4) : suiteCase).with("kind", kind);
    }

    private static SuiteCase chains(int threads, int number, int depth, Holds holds) {
        return shared(threads, holds).with("heldBy", SharedLocks.HeldBy.CHAIN)
                .with("chains", number).with("depth", depth);
    }

    private static SuiteCase readersAndWriters(ReadWriteKind kind, int... readersAndWriters) {
        return SuiteCase.ofGroup(ReadersAndWriters.class, "readersAndWriters", readersAndWriters).with("kind", kind);
    }

    private static SuiteCase locks(int threads, int number) {
        return shared(threads, Holds.GEOMETRIC).with("heldBy", SharedLocks.HeldBy.LOCK).with("locks", number);
    }
}
