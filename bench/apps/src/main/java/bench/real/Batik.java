package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import java.awt.image.BufferedImage;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.batik.transcoder.TranscoderException;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.ImageTranscoder;

/** Threads have Batik render pictures of transparent shapes and gradients. */
public final class Batik implements Application {
    private static final int RENDERINGS = 100;
    private static final int PICTURES = 8;
    private static final int SHAPES = 60;
    private static final int WIDTH = 300;
    private static final int HEIGHT = 200;
    private static final int BACKGROUND = 0x336699;

    private final int threads;
    private final String[] pictures = new String[PICTURES];
    private final int[] hashes = new int[PICTURES];
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicReferenceArray<int[]> rendered;

    public Batik(Settings settings) throws TranscoderException, WrongResult {
        threads = settings.threads();
        rendered = new AtomicReferenceArray<>(settings.work(RENDERINGS));
        for (int i = 0; i < PICTURES; i++) {
            pictures[i] = picture(new Random(i));
            int[] pixels = render(pictures[i]);
            // No shape covers the corner.
            WrongResult.unlessEqual("color of the background", 0xFF000000 | BACKGROUND, pixels[0]);
            hashes[i] = Arrays.hashCode(pixels);
        }
    }

    @Override
    public void iterate() throws Exception {
        next.set(0);
        Team.run("renderer", threads, member -> {
            for (int i = next.getAndIncrement(); i < rendered.length(); i = next.getAndIncrement()) {
                rendered.set(i, render(pictures[i % PICTURES]));
            }
        });
    }

    @Override
    public void check() throws WrongResult {
        for (int i = 0; i < rendered.length(); i++) {
            WrongResult.unlessEqual("hash of picture " + i, hashes[i % PICTURES],
                    Arrays.hashCode(rendered.getAndSet(i, null)));
        }
    }

    private static int[] render(String picture) throws TranscoderException {
        Pixels pixels = new Pixels();
        pixels.transcode(new TranscoderInput(new StringReader(picture)), null);
        return pixels.image.getRGB(0, 0, WIDTH, HEIGHT, null, 0, WIDTH);
    }

    private static String picture(Random random) {
        StringBuilder svg = new StringBuilder(String.format(
                "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'><defs>"
                + "<radialGradient id='g'><stop offset='0' stop-color='white'/><stop offset='1' stop-color='red'/></radialGradient>"
                + "</defs><rect width='100%%' height='100%%' fill='#%06x'/>", WIDTH, HEIGHT, BACKGROUND));
        for (int i = 0; i < SHAPES; i++) {
            int x = 60 + random.nextInt(WIDTH - 120);
            int y = 60 + random.nextInt(HEIGHT - 120);
            svg.append(String.format("<g transform='translate(%d %d) rotate(%d)' opacity='0.6'>", x, y, random.nextInt(360)));
            if (i % 2 == 0) {
                svg.append("<circle r='").append(5 + random.nextInt(30)).append("' fill='url(#g)'/>");
            } else {
                svg.append(String.format("<path d='M-30 0 C-10 %d 10 %d 30 0 Z' fill='#%06x'/>",
                        random.nextInt(40), -random.nextInt(40), random.nextInt(0x1000000)));
            }
            svg.append("</g>");
        }
        return svg.append("</svg>").toString();
    }

    /** Keeps the picture instead of writing it to a file. */
    private static final class Pixels extends ImageTranscoder {
        private BufferedImage image;

        @Override
        public BufferedImage createImage(int width, int height) {
            return new BufferedImage(width, height, BufferedImage.TYPE_INT_ARGB);
        }

        @Override
        public void writeImage(BufferedImage rendering, TranscoderOutput output) {
            image = rendering;
        }
    }
}
