package bench.real;

import bench.Application;
import bench.Settings;
import bench.WrongResult;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import javax.xml.transform.Transformer;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.fop.apps.FopFactory;
import org.apache.fop.apps.MimeConstants;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** FOP formats a document of sections, each of which fits on a page of its own. */
public final class Fop implements Application {
    private static final int SECTIONS = 40;
    private static final int ROWS = 20;

    private final int sections;
    private final String document;
    private final FopFactory factory = FopFactory.newInstance(new File(".").toURI());
    private int pages;
    private byte[] pdf;

    public Fop(Settings settings) {
        sections = settings.work(SECTIONS);
        document = document(sections);
    }

    @Override
    public void iterate() throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        org.apache.fop.apps.Fop formatter = factory.newFop(MimeConstants.MIME_PDF, output);
        Transformer parser = new TransformerFactoryImpl().newTransformer();
        parser.transform(new StreamSource(new StringReader(document)), new SAXResult(formatter.getDefaultHandler()));
        pages = formatter.getResults().getPageCount();
        pdf = output.toByteArray();
    }

    @Override
    public void check() throws WrongResult {
        WrongResult.unlessEqual("pages", sections, pages);
        String text = new String(pdf, StandardCharsets.ISO_8859_1);
        WrongResult.unless(text.startsWith("%PDF-") && text.trim().endsWith("%%EOF"), "not a PDF file");
        WrongResult.unless(text.contains("/Count " + sections), "the PDF file does not count " + sections + " pages");
    }

    private static String document(int sections) {
        Random random = new Random(1);
        StringBuilder text = new StringBuilder("<fo:root xmlns:fo='http://www.w3.org/1999/XSL/Format'>"
                + "<fo:layout-master-set><fo:simple-page-master master-name='page' page-width='210mm' page-height='297mm'>"
                + "<fo:region-body margin='20mm'/></fo:simple-page-master></fo:layout-master-set>"
                + "<fo:page-sequence master-reference='page'><fo:flow flow-name='xsl-region-body' font-size='9pt'>");
        for (int section = 1; section <= sections; section++) {
            text.append("<fo:block break-before='page' font-size='16pt' font-weight='bold'>Section ").append(section)
                    .append("</fo:block><fo:block text-align='justify' hyphenate='false'>").append(words(120, random))
                    .append("</fo:block><fo:table table-layout='fixed' width='100%'><fo:table-body>");
            for (int row = 0; row < ROWS; row++) {
                text.append("<fo:table-row>");
                for (int column = 0; column < 4; column++) {
                    text.append("<fo:table-cell border='solid 0.5pt black' padding='1pt'><fo:block>")
                            .append(words(3, random)).append("</fo:block></fo:table-cell>");
                }
                text.append("</fo:table-row>");
            }
            text.append("</fo:table-body></fo:table>");
        }
        return text.append("</fo:flow></fo:page-sequence></fo:root>").toString();
    }

    private static String words(int count, Random random) {
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < count; i++) {
            words.append(Integer.toString(random.nextInt(1_000_000), Character.MAX_RADIX)).append(' ');
        }
        return words.toString();
    }
}
