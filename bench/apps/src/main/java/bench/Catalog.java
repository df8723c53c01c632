package bench;

import bench.real.Fop;
import bench.real.H2;
import bench.real.LuceneIndex;
import bench.real.LuceneSearch;
import bench.real.Scalac;
import bench.real.Tomcat;
import bench.real.Xalan;
import bench.synthetic.LockHammer;
import bench.synthetic.MonitorHammer;
import bench.synthetic.ProducerConsumer;
import java.util.Arrays;
import java.util.Optional;

/** The applications. */
enum Catalog {
    XALAN("xalan", Kind.MULTI, "XSL transformations by Xalan 2.7.1, taken from one queue", Xalan::new),
    LUSEARCH("lusearch", Kind.MULTI, "queries of one index by Lucene 2.4.1", LuceneSearch::new),
    H2("h2", Kind.MULTI, "bank transfers by concurrent clients of H2 1.2.121", H2::new),
    TOMCAT("tomcat", Kind.MULTI, "an embedded Tomcat and its clients, with sessions", Tomcat::new),

    LUINDEX("luindex", Kind.SINGLE, "indexing by Lucene 2.4.1", LuceneIndex::new),
    SCALAC("scalac", Kind.SINGLE, "the Scala 2.11 compiler on a library", Scalac::new),
    FOP("fop", Kind.SINGLE, "a PDF formatted by FOP 2.9", Fop::new),

    HAMMER_MONITOR("hammer-monitor", Kind.SYNTHETIC, "threads contend for one monitor", MonitorHammer::new),
    HAMMER_LOCK("hammer-lock", Kind.SYNTHETIC, "threads contend for one ReentrantLock", LockHammer::new),
    PRODUCER_CONSUMER("producer-consumer", Kind.SYNTHETIC, "threads pass items through a buffer with wait and notifyAll",
            ProducerConsumer::new);

    /** Prepares an application. */
    private interface Constructor {
        Application prepare(Settings settings) throws Exception;
    }

    private final String commandName;
    private final Kind kind;
    private final String description;
    private final Constructor constructor;

    Catalog(String commandName, Kind kind, String description, Constructor constructor) {
        this.commandName = commandName;
        this.kind = kind;
        this.description = description;
        this.constructor = constructor;
    }

    /** The application of the given name on the command line. */
    static Optional<Catalog> find(String commandName) {
        return Arrays.stream(values()).filter(entry -> entry.commandName.equals(commandName)).findFirst();
    }

    /** A line of {@code --list}. */
    String line() {
        return String.join("\t", commandName, kind.toString(), description);
    }

    Application prepare(Settings settings) throws Exception {
        return constructor.prepare(settings);
    }
}
