import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.ClassPrepareRequest;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.security.Signature;
import java.text.DateFormat;
import java.text.NumberFormat;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.zip.Deflater;
import javax.imageio.ImageIO;
import javax.net.ssl.SSLContext;
import javax.script.ScriptEngineManager;
import javax.swing.JTable;
import javax.tools.ToolProvider;

/**
 * Prints what a JDK answers to questions that use its class libraries, their data, and the native code below them.
 * Images of one version must print the same; where one fails, it prints how. What is long is printed as a digest.
 */
public class Facts {
    public static void main(String[] args) throws Exception {
        String pid = ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
        fact("time zones", Facts::timeZones);
        fact("charsets", Facts::charsets);
        fact("locales", Facts::locales);
        fact("security services", Facts::securityServices);
        fact("trusted certificates", Facts::trustedCertificates);
        fact("elliptic curves", Facts::ellipticCurves);
        fact("cipher suites", () -> String.join(" ", SSLContext.getDefault().getSupportedSSLParameters().getCipherSuites()));
        fact("compressed", Facts::compressed);
        fact("socket", Facts::socket);
        fact("fonts and images", Facts::picture);
        fact("script", () -> new ScriptEngineManager().getEngineByName("nashorn").eval("[3, 1, 2].sort().join('-')"));
        fact("compiler", () -> ToolProvider.getSystemJavaCompiler().getSourceVersions());
        fact("management", () -> new TreeSet<>(ManagementFactory.getPlatformMBeanServer().queryNames(null, null)));
        fact("debugger", Facts::debugged);
        fact("jstack", () -> tool("jstack", pid).contains("Facts.main"));
        fact("jstack -F", () -> tool("jstack", "-F", pid).contains("Facts.main"));
        fact("jmap", () -> tool("jmap", "-histo", pid).contains("java.lang.String"));
        fact("jmap -heap", () -> tool("jmap", "-heap", pid).contains("MaxHeapSize"));
        fact("jcmd", () -> tool("jcmd", pid, "VM.version").contains("OpenJDK 64-Bit Server VM"));
        fact("jinfo", () -> tool("jinfo", "-flag", "UseCompressedOops", pid).contains("UseCompressedOops"));
        fact("jstat", () -> tool("jstat", "-gcutil", pid).contains("CCS"));
        fact("javap", () -> tool("javap", "-c", "-p", "java.util.concurrent.locks.AbstractQueuedSynchronizer"));
        fact("jdeps", () -> tool("jdeps", "-version").startsWith("1.8.0_"));
        fact("keytool", () -> tool("keytool", "-help"));
    }

    /** Prints the answer, as a digest if it does not fit in a line. */
    private static void fact(String name, Callable<Object> question) throws Exception {
        String answer;
        try {
            answer = String.valueOf(question.call());
        } catch (Exception | LinkageError failure) {
            answer = failure.toString();
        }
        System.out.println(name + ": " + (answer.length() > 80 ? digest(answer.getBytes(StandardCharsets.UTF_8)) : answer.trim()));
    }

    private static String digest(byte[] bytes) throws Exception {
        StringBuilder text = new StringBuilder();
        for (byte value : MessageDigest.getInstance("SHA-256").digest(bytes)) {
            text.append(String.format("%02x", value));
        }
        return text + " of " + bytes.length;
    }

    /** All transitions of all zones until 2050, by both kinds of classes. */
    private static String timeZones() {
        StringBuilder text = new StringBuilder();
        Instant end = Instant.parse("2050-01-01T00:00:00Z");
        for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
            ZoneRules rules = ZoneId.of(id).getRules();
            text.append(id).append(' ').append(rules.getOffset(Instant.MIN)).append(' ').append(rules.getTransitions());
            ZoneOffsetTransition next = rules.nextTransition(Instant.EPOCH);
            for (; next != null && next.getInstant().isBefore(end); next = rules.nextTransition(next.getInstant())) {
                text.append(next);
            }
            TimeZone zone = TimeZone.getTimeZone(id);
            text.append(zone.getDisplayName(Locale.ROOT)).append(zone.getOffset(0)).append('\n');
        }
        return text.toString();
    }

    private static String charsets() throws Exception {
        char[] all = new char[Character.MIN_SURROGATE];
        for (int code = 0; code < all.length; code++) {
            all[code] = (char) code;
        }
        StringBuilder text = new StringBuilder();
        for (Charset charset : Charset.availableCharsets().values()) {
            byte[] encoded = charset.canEncode() ? new String(all).getBytes(charset) : new byte[0];
            text.append(charset).append(charset.aliases().size()).append(' ').append(digest(encoded)).append('\n');
        }
        return text.toString();
    }

    private static String locales() {
        StringBuilder text = new StringBuilder();
        Locale[] locales = Locale.getAvailableLocales();
        Arrays.sort(locales, Comparator.comparing(Locale::toString));
        for (Locale locale : locales) {
            DateFormat format = DateFormat.getDateTimeInstance(DateFormat.FULL, DateFormat.FULL, locale);
            format.setTimeZone(TimeZone.getTimeZone("Europe/Vienna"));
            text.append(locale).append(' ').append(locale.getDisplayName(locale)).append(' ').append(format.format(new Date(0)))
                .append(' ').append(NumberFormat.getCurrencyInstance(locale).format(-1234567.891)).append('\n');
        }
        return text.toString();
    }

    private static String securityServices() {
        StringBuilder text = new StringBuilder();
        for (Provider provider : Security.getProviders()) {
            TreeSet<String> services = new TreeSet<>();
            provider.getServices().forEach(service -> services.add(service.getType() + " " + service.getAlgorithm()));
            text.append(provider.getName()).append(' ').append(services).append('\n');
        }
        return text.toString();
    }

    private static String trustedCertificates() throws Exception {
        KeyStore store = KeyStore.getInstance("JKS");
        try (InputStream file = new FileInputStream(System.getProperty("java.home") + "/lib/security/cacerts")) {
            store.load(file, null);
        }
        TreeSet<String> aliases = new TreeSet<>(Collections.list(store.aliases()));
        return aliases.size() + " certificates " + aliases;
    }

    private static boolean ellipticCurves() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256, new SecureRandom());
        KeyPair keys = generator.generateKeyPair();
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(keys.getPrivate());
        byte[] signed = signature.sign();
        signature.initVerify(keys.getPublic());
        return signature.verify(signed);
    }

    private static String compressed() throws Exception {
        byte[] input = timeZones().getBytes(StandardCharsets.UTF_8);
        Deflater deflater = new Deflater();
        deflater.setInput(input);
        deflater.finish();
        byte[] output = new byte[input.length];
        return digest(Arrays.copyOf(output, deflater.deflate(output)));
    }

    private static int socket() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
             Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
             Socket accepted = server.accept()) {
            client.getOutputStream().write(42);
            return accepted.getInputStream().read();
        }
    }

    /** Swing, without a display: text, anti-aliased shapes, scaling; then the writers of images. */
    private static String picture() throws Exception {
        BufferedImage image = new BufferedImage(300, 120, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        JTable table = new JTable(new Object[][] {{"lock", "owner"}, {"wait", 42}}, new Object[] {"a", "b"});
        table.setSize(300, 80);
        table.doLayout();
        table.print(graphics);
        graphics.setColor(Color.BLUE);
        graphics.rotate(0.1);
        graphics.drawOval(20, 60, 100, 30);
        graphics.drawImage(image, 150, 60, 75, 30, null);
        StringBuilder text = new StringBuilder();
        for (String format : new String[] {"png", "jpg", "gif", "bmp"}) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            ImageIO.write(image, format, bytes);
            text.append(format).append(' ').append(digest(bytes.toByteArray())).append('\n');
        }
        return text.toString();
    }

    /** The first class of a debugged program that is not of the JDK. */
    private static String debugged() throws Exception {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("main").setValue("Debugged");
        arguments.get("options").setValue("-cp " + System.getProperty("java.class.path"));
        VirtualMachine machine = connector.launch(arguments);
        ClassPrepareRequest request = machine.eventRequestManager().createClassPrepareRequest();
        request.addClassFilter("Debugged*");
        request.enable();
        machine.resume();
        while (true) {
            EventSet events = machine.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof ClassPrepareEvent) {
                    String name = ((ClassPrepareEvent) event).referenceType().name();
                    machine.exit(0);
                    return name;
                }
            }
            events.resume();
        }
    }

    /** Returns the output of a program of the JDK, and the exit code if it failed. */
    private static String tool(String... command) throws Exception {
        command[0] = System.getProperty("java.home") + "/../bin/" + command[0];
        File output = File.createTempFile("tool", ".out");
        int code = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start().waitFor();
        String text = new String(Files.readAllBytes(output.toPath()), StandardCharsets.UTF_8);
        output.delete();
        return code == 0 ? text : "exit code " + code + ": " + text;
    }
}

class Debugged {
    public static void main(String[] args) {}
}
