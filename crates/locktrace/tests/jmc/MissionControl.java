import java.io.File;
import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.RunnableFuture;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.IMCThread;
import org.openjdk.jmc.common.IMCType;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.jdk.JdkAttributes;
import org.openjdk.jmc.flightrecorder.jdk.JdkTypeIDs;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.ResultProvider;
import org.openjdk.jmc.flightrecorder.rules.jdk.latency.JavaBlockingRule;

/**
 * Prints what JDK Mission Control finds in a recording, a line for each sum: what it is of, a tab, the key, a
 * tab, how many events there are, a tab, and their durations in nanoseconds. Control characters in keys, and
 * backslashes, are escaped as in JSON.
 */
final class MissionControl {
    private final Map<String, long[]> sums = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        IItemCollection events = JfrLoaderToolkit.loadEvents(new File(arguments[0]));
        MissionControl found = new MissionControl();
        found.add(events, JdkTypeIDs.MONITOR_ENTER);
        found.add(events, JdkTypeIDs.THREAD_PARK);
        found.add(events, "locktrace.Blame");
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        found.sums.forEach((key, sum) -> out.println(key + "\t" + sum[0] + "\t" + sum[1]));
        out.flush();
        if (found.sums.isEmpty()) {
            return; // the rule expects an event that has an end
        }
        RunnableFuture<IResult> rule = new JavaBlockingRule().createEvaluation(
            events, IPreferenceValueProvider.DEFAULT_VALUES, new ResultProvider());
        rule.run();
        IQuantity blocked = rule.get().getResult(JavaBlockingRule.TOTAL_BLOCKED_TIME);
        System.out.println("rule\t" + rule.get().getRule().getId() + "\t0\t"
            + (blocked == null ? 0 : nanoseconds(blocked)));
    }

    private void add(IItemCollection events, String type) {
        for (IItemIterable items : events.apply(ItemFilters.type(type))) {
            IType<IItem> of = items.getType();
            IMemberAccessor<IQuantity, IItem> duration = JfrAttributes.DURATION.getAccessor(of);
            IMemberAccessor<IMCThread, IItem> thread = JfrAttributes.EVENT_THREAD.getAccessor(of);
            IMemberAccessor<IMCStackTrace, IItem> stack = JfrAttributes.EVENT_STACKTRACE.getAccessor(of);
            IMemberAccessor<IMCType, IItem> monitor = JdkAttributes.MONITOR_CLASS.getAccessor(of);
            IMemberAccessor<IMCThread, IItem> previous = JdkAttributes.MONITOR_PREVIOUS_OWNER.getAccessor(of);
            for (IItem item : items) {
                long nanoseconds = nanoseconds(duration.getMember(item));
                sum(type, "", nanoseconds);
                sum(type + " thread", name(thread.getMember(item)), nanoseconds);
                sum(type + " frame", top(stack.getMember(item)), nanoseconds);
                if (monitor != null) {
                    sum(type + " class", monitor.getMember(item).getFullName(), nanoseconds);
                    sum(type + " previous owner", name(previous.getMember(item)), nanoseconds);
                }
            }
        }
    }

    private void sum(String of, String key, long nanoseconds) {
        long[] sum = sums.computeIfAbsent(of + "\t" + escaped(key), none -> new long[2]);
        sum[0]++;
        sum[1] += nanoseconds;
    }

    private static String escaped(String key) {
        StringBuilder escaped = new StringBuilder();
        key.chars().forEach(of -> escaped.append(
            of < ' ' || of == '\\' ? String.format("\\u%04x", of) : String.valueOf((char) of)));
        return escaped.toString();
    }

    private static long nanoseconds(IQuantity duration) {
        return duration.clampedLongValueIn(UnitLookup.NANOSECOND);
    }

    private static String name(IMCThread thread) {
        return thread == null ? "" : thread.getThreadId() + ":" + thread.getThreadName();
    }

    private static String top(IMCStackTrace stack) {
        if (stack == null) {
            return "";
        }
        IMCFrame frame = stack.getFrames().get(0);
        return frame.getMethod().getType().getFullName() + "." + frame.getMethod().getMethodName() + ":"
            + frame.getFrameLineNumber();
    }
}
