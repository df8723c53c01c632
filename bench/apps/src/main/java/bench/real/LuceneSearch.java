package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.TemporaryFolder;
import bench.WrongResult;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.queryParser.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.FSDirectory;

/**
 * Threads search one index in files, through one searcher, and read the documents
 * found. Lucene 2.4 reads a file under the lock of its descriptor.
 */
public final class LuceneSearch implements Application {
    private static final int DOCUMENTS = 4_000;
    private static final int QUERIES = 14_000;
    private static final int FREQUENT_WORDS = 1_000;
    private static final int DOCUMENTS_READ = 10;

    private final int threads;
    private final Corpus corpus = new Corpus(DOCUMENTS);
    private final int queries;
    private final int expectedHits;
    private final TemporaryFolder folder = new TemporaryFolder();
    private final IndexSearcher searcher;
    private final AtomicInteger nextQuery = new AtomicInteger();
    private final AtomicLong hits = new AtomicLong();

    public LuceneSearch(Settings settings) throws IOException {
        threads = settings.threads();
        queries = settings.work(QUERIES);
        int sum = 0;
        for (int query = 0; query < queries; query++) {
            sum += corpus.documentsWith(firstWord(query), secondWord(query));
        }
        expectedHits = sum;
        FSDirectory index = FSDirectory.getDirectory(folder.path().toFile());
        LuceneIndex.write(corpus, index);
        searcher = new IndexSearcher(index);
    }

    @Override
    public void iterate() throws Exception {
        nextQuery.set(0);
        hits.set(0);
        Team.run("searcher", threads, member -> {
            QueryParser parser = new QueryParser(LuceneIndex.TEXT, new StandardAnalyzer());
            for (int query = nextQuery.getAndIncrement(); query < queries; query = nextQuery.getAndIncrement()) {
                hits.addAndGet(search(parser, corpus.word(firstWord(query)), corpus.word(secondWord(query))));
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        WrongResult.unlessEqual("hits", expectedHits, hits.get());
    }

    @Override
    public void close() throws IOException {
        searcher.close();
        folder.close();
    }

    private int search(QueryParser parser, String word, String otherWord) throws Exception {
        TopDocs found = searcher.search(parser.parse("+" + word + " +" + otherWord), DOCUMENTS_READ);
        for (ScoreDoc document : found.scoreDocs) {
            String text = searcher.doc(document.doc).get(LuceneIndex.TEXT);
            WrongResult.unless(text.contains(word) && text.contains(otherWord),
                    "found without " + word + " and " + otherWord + ": " + text);
        }
        return found.totalHits;
    }

    private static int firstWord(int query) {
        return query % FREQUENT_WORDS;
    }

    private static int secondWord(int query) {
        return (query * 7 + 3) % FREQUENT_WORDS;
    }
}
