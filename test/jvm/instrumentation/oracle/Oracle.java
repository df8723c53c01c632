package instrumentation.oracle;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Instruments classes by ASM, and compares what was instrumented otherwise: instructions, lines,
 * frames, handlers, local variables and annotations of each method.
 *
 * <p>Arguments: the original classes, a class path; the directory with those to be checked; a file with a line "NAME FIRST_SITE" for each; "true" if there are calls after releases.
 */
final class Oracle {
    private Oracle() {}

    public static void main(String[] arguments) throws IOException {
        String[] originals = arguments[0].split(File.pathSeparator);
        Path checked = Paths.get(arguments[1]);
        List<String> classes = Files.readAllLines(Paths.get(arguments[2]), StandardCharsets.UTF_8);
        boolean callsAfter = Boolean.parseBoolean(arguments[3]);
        int methods = 0;
        int differences = 0;
        List<ZipFile> jars = new ArrayList<>();
        for (String original : originals) {
            jars.add(new File(original).isDirectory() ? null : new ZipFile(original));
        }
        for (String line : classes) {
            int space = line.indexOf(' ');
            String file = line.substring(0, space) + ".class";
            byte[] bytes = find(file, originals, jars);
            ClassNode expected = new ClassNode();
            new ClassReader(bytes).accept(expected, ClassReader.EXPAND_FRAMES);
            int site = Integer.parseInt(line.substring(space + 1));
            for (MethodNode method : expected.methods) {
                site = new Instrumenter(expected, method, callsAfter, site).instrument();
            }
            ClassNode found = read(Files.readAllBytes(checked.resolve(file)));
            expected = read(write(expected));
            if (expected.methods.size() != found.methods.size()) {
                System.out.println(file + ": other methods");
                differences++;
                continue;
            }
            for (int i = 0; i < expected.methods.size(); i++) {
                methods++;
                differences += compare(file, expected.methods.get(i), found.methods.get(i));
            }
        }
        System.out.println(methods + " methods of " + classes.size() + " classes compared");
        System.exit(differences == 0 ? 0 : 1);
    }

    private static byte[] find(String file, String[] originals, List<ZipFile> jars)
            throws IOException {
        for (int i = 0; i < originals.length; i++) {
            ZipFile jar = jars.get(i);
            Path path = Paths.get(originals[i], file);
            if (jar == null && Files.exists(path)) {
                return Files.readAllBytes(path);
            }
            if (jar != null && jar.getEntry(file) != null) {
                return read(jar.getInputStream(jar.getEntry(file)));
            }
        }
        throw new IOException("no " + file);
    }

    private static byte[] read(InputStream stream) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int count; (count = stream.read(buffer)) >= 0; ) {
            bytes.write(buffer, 0, count);
        }
        return bytes.toByteArray();
    }

    private static ClassNode read(byte[] bytes) {
        ClassNode node = new ClassNode();
        new ClassReader(bytes).accept(node, ClassReader.EXPAND_FRAMES);
        return node;
    }

    private static byte[] write(ClassNode node) {
        ClassWriter writer = new ClassWriter(0);
        node.accept(writer);
        return writer.toByteArray();
    }

    private static int compare(String file, MethodNode expected, MethodNode found) {
        List<String> expectedLines = Listing.of(expected);
        List<String> foundLines = Listing.of(found);
        if (expectedLines.equals(foundLines)) {
            return 0;
        }
        System.out.println(file + " " + expected.name + expected.desc);
        int i = 0;
        while (i < expectedLines.size()
                && i < foundLines.size()
                && expectedLines.get(i).equals(foundLines.get(i))) {
            i++;
        }
        for (int line = Math.max(0, i - 4); line < i + 6; line++) {
            System.out.println(
                    "  " + at(expectedLines, line) + (line < i ? "" : "   !=   " + at(foundLines, line)));
        }
        return 1;
    }

    private static String at(List<String> lines, int i) {
        return i < lines.size() ? lines.get(i) : "(end)";
    }
}
