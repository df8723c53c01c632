package bench.real;

import bench.Application;
import bench.Settings;
import bench.WrongResult;
import java.io.IOException;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.RAMDirectory;

/** Lucene makes an index in memory, by one thread, which merges too. */
public final class LuceneIndex implements Application {
    static final String TEXT = "text";
    private static final int DOCUMENTS = 10_000;
    private static final double BUFFER_MEGABYTES = 1;

    private final Corpus corpus;
    private Directory index;

    public LuceneIndex(Settings settings) {
        corpus = new Corpus(settings.work(DOCUMENTS));
    }

    @Override
    public void iterate() throws IOException {
        index = new RAMDirectory();
        write(corpus, index);
    }

    @Override
    public void check() throws IOException, WrongResult {
        IndexReader reader = IndexReader.open(index);
        try {
            WrongResult.unlessEqual("documents", corpus.documents().size(), reader.numDocs());
            for (int word = 0; word < corpus.words(); word++) {
                String spelling = corpus.word(word);
                WrongResult.unlessEqual("documents with " + spelling, corpus.documentsWith(word),
                        reader.docFreq(new Term(TEXT, spelling)));
            }
        } finally {
            reader.close();
        }
    }

    /** Makes an index of one segment. */
    static void write(Corpus corpus, Directory index) throws IOException {
        IndexWriter writer = new IndexWriter(index, new StandardAnalyzer(), true, IndexWriter.MaxFieldLength.UNLIMITED);
        writer.setMergeScheduler(new SerialMergeScheduler());
        writer.setRAMBufferSizeMB(BUFFER_MEGABYTES);
        for (String text : corpus.documents()) {
            Document document = new Document();
            document.add(new Field(TEXT, text, Field.Store.YES, Field.Index.ANALYZED));
            writer.addDocument(document);
        }
        writer.optimize();
        writer.close();
    }
}
