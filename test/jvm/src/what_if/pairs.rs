//! The programs, and the question whose answer each remedy is.

/// A program of `pairs/`, as it is and with a remedy.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The program's class, without `pairs.`.
    pub program: &'static str,
    /// What differs.
    pub remedy: &'static str,
    /// What corresponds to the remedy in the arguments of `locktrace what-if`.
    pub question: &'static [&'static str],
}

impl Pair {
    /// The pair with this program.
    pub fn of(program: &str) -> Option<&'static Pair> {
        PAIRS.iter().find(|pair| pair.program == program)
    }

    /// The program needs the libraries of real applications.
    pub(crate) fn is_real(&self) -> bool {
        self.program.starts_with("real.")
    }
}

/// All pairs.
pub const PAIRS: &[Pair] = &[
    Pair {
        program: "ShorterHold",
        remedy: "half of what is done under a lock is left out",
        question: &[
            "--change",
            "holds=0.5",
            "--lock-class",
            "pairs.ShorterHold$Count",
        ],
    },
    Pair {
        program: "FormatOutside",
        remedy: "3 of 4 ms under a lock are done before it is acquired",
        question: &[
            "--change",
            "holds=0.25",
            "--lock-class",
            "pairs.FormatOutside$Ledger",
        ],
    },
    Pair {
        program: "ComputedFormatOutside",
        remedy: "lines are formatted outside of the log's lock; all computes",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "pairs.ComputedFormatOutside$Log",
        ],
    },
    Pair {
        program: "LockStripes",
        remedy: "four locks in place of one, by key",
        question: &[
            "--change",
            "split=4",
            "--lock-class",
            "pairs.LockStripes$Stripe",
        ],
    },
    Pair {
        program: "ReadWrite",
        remedy: "`ReentrantReadWriteLock`; nine of ten only read",
        question: &[
            "--change",
            "read-write",
            "--readers",
            "pairs.ReadWrite.find",
            "--lock-class",
            "*ReentrantLock$NonfairSync",
        ],
    },
    Pair {
        program: "Unfair",
        remedy: "a fair `ReentrantLock` with short holds is made unfair; all computes",
        question: &[
            "--change",
            "unfair",
            "--lock-class",
            "*ReentrantLock$FairSync",
        ],
    },
    Pair {
        program: "Fair",
        remedy: "an unfair `ReentrantLock` is made fair",
        question: &[
            "--change",
            "fair",
            "--lock-class",
            "*ReentrantLock$NonfairSync",
        ],
    },
    Pair {
        program: "LargerPool",
        remedy: "a `Semaphore` of 8 permits in place of 2, for 8 threads",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "*Semaphore$NonfairSync",
        ],
    },
    Pair {
        program: "KeptConnection",
        remedy: "what a pool lends is given back before mail is sent, not after it",
        question: &[
            "--change",
            "moved-out",
            "--owner-method",
            "pairs.KeptConnection.mail",
            "--lock-class",
            "*ConditionObject",
        ],
    },
    Pair {
        program: "ConcurrentMap",
        remedy: "`ConcurrentHashMap` in place of `Hashtable`, whose entries are computed",
        question: &["--change", "removed", "--lock-class", "java.util.Hashtable"],
    },
    Pair {
        program: "ShortReader",
        remedy: "a reader is ten times as fast, behind which a writer and readers queue",
        question: &[
            "--change",
            "holds=0.1",
            "--owner-method",
            "pairs.ShortReader.export",
            "--lock-class",
            "*ReentrantReadWriteLock$NonfairSync",
        ],
    },
    Pair {
        program: "MissingFinally",
        remedy: "a lock is released in `finally`, not 6 ms later, if a request fails",
        question: &[
            "--change",
            "holds=0.143",
            "--owner-method",
            "pairs.MissingFinally.cleanUp",
            "--lock-class",
            "*ReentrantLock$NonfairSync",
        ],
    },
    Pair {
        program: "Batches",
        remedy: "five items are written at once: 1.0 ms each in place of 4.2 ms",
        question: &[
            "--change",
            "holds=0.238",
            "--lock-class",
            "pairs.Batches$Store",
        ],
    },
    Pair {
        program: "LoadOutside",
        remedy: "an entry of a cache is loaded outside of `computeIfAbsent`, the old one serves meanwhile",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "*ConcurrentHashMap$*Node",
        ],
    },
    Pair {
        program: "NestedLock",
        remedy: "the inner of two nested locks is held for a fifth of the time",
        question: &[
            "--change",
            "holds=0.2",
            "--lock-class",
            "pairs.NestedLock$Journal",
        ],
    },
    Pair {
        program: "OwnBuffers",
        remedy: "each thread has a buffer of its own",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "pairs.OwnBuffers$Buffer",
        ],
    },
    Pair {
        program: "Atomics",
        remedy: "adders and accumulators in place of a lock; all computes",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "pairs.Atomics$Figures",
        ],
    },
    Pair {
        program: "NextLock",
        remedy: "the first of two locks is held for half the time",
        question: &[
            "--change",
            "holds=0.5",
            "--lock-class",
            "pairs.NextLock$Cart",
        ],
    },
    Pair {
        program: "real.Log4j",
        remedy: "Log4j 1.2.17 with `immediateFlush=false`, to a slow device",
        question: &[
            "--change",
            "holds=0.04",
            "--lock-class",
            "org.apache.log4j.spi.RootLogger",
        ],
    },
    Pair {
        program: "real.H2",
        remedy: "H2 1.2.121: a slow function is called before the statement, not in it",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "org.h2.engine.Database",
        ],
    },
    Pair {
        program: "real.Tomcat",
        remedy: "Tomcat 9.0.98: pages are made outside of the servlet's lock",
        question: &[
            "--change",
            "removed",
            "--lock-class",
            "pairs.real.Tomcat$Sales",
        ],
    },
];
