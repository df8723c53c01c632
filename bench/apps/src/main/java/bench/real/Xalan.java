package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Hashtable;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerException;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;
import org.apache.xml.dtm.ref.DTMManagerDefault;

/**
 * Threads take XML documents from one queue and have Xalan make web pages of them.
 * Results go into one {@link Hashtable}, and Xalan keeps its parsers in another.
 */
public final class Xalan implements Application {
    private static final int TRANSFORMATIONS = 250;
    private static final int DOCUMENTS = 16;
    private static final int CUSTOMERS = 40;
    private static final int ORDERS = 150;
    /** Takes the place of a document: there are no more. */
    private static final int NO_MORE = -1;

    private final int threads;
    private final int transformations;
    private final Templates stylesheet;
    private final byte[][] documents = new byte[DOCUMENTS][];
    private final long[] checksums = new long[DOCUMENTS];
    /** The checksum of each page made, by the number of its transformation. */
    private final Map<Integer, Long> pages = new Hashtable<>();

    public Xalan(Settings settings) throws Exception {
        // Else each transformation looks for one in all jars.
        System.setProperty("org.apache.xml.dtm.DTMManager", DTMManagerDefault.class.getName());
        threads = settings.threads();
        transformations = settings.work(TRANSFORMATIONS);
        try (InputStream source = Xalan.class.getResourceAsStream("orders.xsl")) {
            stylesheet = new TransformerFactoryImpl().newTemplates(new StreamSource(source));
        }
        for (int i = 0; i < DOCUMENTS; i++) {
            prepareDocument(i);
        }
    }

    @Override
    public void iterate() throws Exception {
        pages.clear();
        WorkQueue queue = new WorkQueue();
        Team.run("transformer", threads + 1, member -> {
            if (member == threads) {
                fill(queue);
                return;
            }
            for (int number = queue.take(); number != NO_MORE; number = queue.take()) {
                pages.put(number, checksum(transform(number % DOCUMENTS)));
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        WrongResult.unlessEqual("pages", transformations, pages.size());
        for (Map.Entry<Integer, Long> page : pages.entrySet()) {
            WrongResult.unlessEqual("checksum of page " + page.getKey(), checksums[page.getKey() % DOCUMENTS],
                    page.getValue());
        }
    }

    private void fill(WorkQueue queue) throws InterruptedException {
        for (int number = 0; number < transformations; number++) {
            queue.put(number);
        }
        for (int i = 0; i < threads; i++) {
            queue.put(NO_MORE);
        }
    }

    /** Makes up a document, and the checksum of a page that says the right total. */
    private void prepareDocument(int number) throws TransformerException, WrongResult {
        Random random = new Random(number);
        StringBuilder text = new StringBuilder("<orders>");
        int total = 0;
        for (int order = 0; order < ORDERS; order++) {
            int cents = 1 + random.nextInt(100_000);
            total += cents;
            text.append(String.format("<order id='%d' customer='customer %d'><item>thing &amp; %x</item><cents>%d</cents></order>",
                    order, random.nextInt(CUSTOMERS), random.nextInt(), cents));
        }
        documents[number] = text.append("</orders>").toString().getBytes(StandardCharsets.UTF_8);
        byte[] page = transform(number);
        WrongResult.unless(new String(page, StandardCharsets.UTF_8).contains("<p>Total: " + total + "</p>"),
                "the page of document " + number + " does not say the total " + total);
        checksums[number] = checksum(page);
    }

    private byte[] transform(int document) throws TransformerException {
        ByteArrayOutputStream page = new ByteArrayOutputStream();
        stylesheet.newTransformer().transform(new StreamSource(new ByteArrayInputStream(documents[document])),
                new StreamResult(page));
        return page.toByteArray();
    }

    private static long checksum(byte[] bytes) {
        CRC32 checksum = new CRC32();
        checksum.update(bytes);
        return checksum.getValue();
    }
}
