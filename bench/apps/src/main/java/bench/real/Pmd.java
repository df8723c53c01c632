package bench.real;

import bench.Application;
import bench.Jars;
import bench.Settings;
import bench.WrongResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import net.sourceforge.pmd.PMD;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.Report;
import net.sourceforge.pmd.RuleContext;
import net.sourceforge.pmd.RulesetsFactoryUtils;
import net.sourceforge.pmd.renderers.AbstractRenderer;
import net.sourceforge.pmd.util.datasource.DataSource;
import net.sourceforge.pmd.util.datasource.ZipDataSource;

/** Threads of PMD inspect the sources of Log4j, which they read from one jar. */
public final class Pmd implements Application {
    private static final int FILES = 75;
    private static final String RULE_SETS = "java-basic,java-design,java-strings,java-unusedcode";

    private final int threads;
    private final ZipFile jar = new ZipFile(Jars.sourcesOf("log4j").toFile());
    private final List<DataSource> files = new ArrayList<>();
    private final int expectedViolations;
    private int violations;

    public Pmd(Settings settings) throws IOException, WrongResult {
        threads = settings.threads();
        List<ZipEntry> sources = new ArrayList<>();
        jar.stream().filter(entry -> entry.getName().endsWith(".java")).forEach(sources::add);
        for (int i = 0; i < settings.work(FILES); i++) {
            files.add(new ZipDataSource(jar, sources.get(i % sources.size())));
        }
        // As many as one thread finds.
        expectedViolations = inspect(0);
        WrongResult.unless(expectedViolations > files.size(), "only " + expectedViolations + " violations");
    }

    @Override
    public void iterate() {
        violations = inspect(threads);
    }

    @Override
    public void check() throws WrongResult {
        WrongResult.unlessEqual("violations", expectedViolations, violations);
    }

    @Override
    public void close() throws IOException {
        jar.close();
    }

    /** Returns how many violations there are. With 0 threads, this one finds them. */
    private int inspect(int threads) {
        PMDConfiguration configuration = new PMDConfiguration();
        configuration.setRuleSets(RULE_SETS);
        configuration.setThreads(threads);
        Counter counter = new Counter();
        PMD.processFiles(configuration, RulesetsFactoryUtils.getRulesetFactory(configuration), files, new RuleContext(),
                Collections.singletonList(counter));
        return counter.violations;
    }

    /** Counts the violations to report. */
    private static final class Counter extends AbstractRenderer {
        private int violations;

        Counter() {
            super("counter", "Counts violations");
        }

        @Override
        public String defaultFileExtension() {
            return null;
        }

        @Override
        public void start() {}

        @Override
        public void startFileAnalysis(DataSource file) {}

        @Override
        public void renderFileReport(Report report) {
            if (report.hasErrors()) {
                throw new IllegalStateException(report.errors().next().getMsg());
            }
            violations += report.size();
        }

        @Override
        public void end() {}
    }
}
