package bench;

import bench.real.Akka;
import bench.real.Batik;
import bench.real.Chameneos;
import bench.real.Fop;
import bench.real.H2;
import bench.real.Jython;
import bench.real.Log4j;
import bench.real.LuceneIndex;
import bench.real.LuceneSearch;
import bench.real.Netty;
import bench.real.Pmd;
import bench.real.Scalac;
import bench.real.Tomcat;
import bench.real.Xalan;
import bench.synthetic.Handoff;
import bench.synthetic.LockHammer;
import bench.synthetic.LockStep;
import bench.synthetic.MonitorHammer;
import bench.synthetic.ParkStorm;
import bench.synthetic.ProducerConsumer;
import java.util.Arrays;
import java.util.Optional;

/** The applications. */
enum Catalog {
    XALAN("xalan", Kind.MULTI, "XSL transformations by Xalan 2.7.1, taken from one queue", Xalan::new),
    LUSEARCH("lusearch", Kind.MULTI, "queries of one index by Lucene 2.4.1", LuceneSearch::new),
    H2("h2", Kind.MULTI, "bank transfers by concurrent clients of H2 1.2.121", H2::new),
    TOMCAT("tomcat", Kind.MULTI, "an embedded Tomcat 9 and its clients, with sessions", Tomcat::new),
    NETTY("netty", Kind.MULTI, "a Netty 4.1 echo server and its clients", Netty::new),
    LOG4J("log4j", Kind.MULTI, "threads that log to one file by Log4j 1.2", Log4j::new),
    ACTORS("actors", Kind.MULTI, "meetings of Scala 2.11 actors", Chameneos::new),
    AKKA("akka", Kind.MULTI, "a bank of Akka 2.4 actors", Akka::new),
    PMD("pmd", Kind.MULTI, "PMD 5.8 inspects the sources of Log4j", Pmd::new),
    BATIK("batik", Kind.MULTI, "pictures rendered by Batik 1.17", Batik::new),

    LUINDEX("luindex", Kind.SINGLE, "indexing by Lucene 2.4.1", LuceneIndex::new),
    // Not a reference, which the JVM would resolve for any application: an archive of bench/pack has no compiler.
    SCALAC("scalac", Kind.SINGLE, "the Scala 2.11 compiler on a library", settings -> new Scalac(settings)),
    JYTHON("jython", Kind.SINGLE, "a Python program in Jython 2.7", Jython::new),
    FOP("fop", Kind.SINGLE, "a PDF formatted by FOP 2.9", Fop::new),

    HAMMER_MONITOR("hammer-monitor", Kind.SYNTHETIC, "threads contend for one monitor", MonitorHammer::new),
    HAMMER_LOCK("hammer-lock", Kind.SYNTHETIC, "threads contend for one ReentrantLock", LockHammer::new),
    PRODUCER_CONSUMER("producer-consumer", Kind.SYNTHETIC, "threads pass items through a buffer with wait and notifyAll",
            ProducerConsumer::new),
    LOCK_STEP("lock-step", Kind.SYNTHETIC, "threads wait for all others after each tiny step", LockStep::new),
    PARK_STORM("park-storm", Kind.SYNTHETIC, "pairs of threads take turns with park and unpark", ParkStorm::new),
    HANDOFF("handoff", Kind.SYNTHETIC, "threads hand items over through a SynchronousQueue", Handoff::new);

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
