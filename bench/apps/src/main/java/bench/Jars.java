package bench;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.regex.Pattern;

/** The jars on the class path that an application reads as its input. */
public final class Jars {
    private Jars() {}

    /** The jar that the class is from. */
    public static Path of(Class<?> type) {
        try {
            return Paths.get(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException problem) {
            throw new IllegalStateException(problem);
        }
    }

    /** The jar with the sources of the given Maven artifact. */
    public static Path sourcesOf(String artifact) {
        Pattern fileName = Pattern.compile(Pattern.quote(artifact) + "-\\d.*-sources\\.jar");
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Paths.get(entry);
            if (fileName.matcher(path.getFileName().toString()).matches()) {
                return path;
            }
        }
        throw new IllegalStateException("the sources of " + artifact + " are not on the class path");
    }
}
