import java.io.File;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCMethod;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.jdk.JdkAttributes;
import org.openjdk.jmc.flightrecorder.jdk.JdkTypeIDs;

/** Reads a recording by JDK Mission Control's parser. Prints what ByJdk prints, but for times. */
public class ByJmc {
    public static void main(String[] arguments) throws Exception {
        Map<String, long[]> methods = new TreeMap<>();
        Map<String, Integer> places = new TreeMap<>();
        Set<String> threads = new HashSet<>();
        long samples = 0, truncated = 0;
        IItemCollection events = JfrLoaderToolkit.loadEvents(new File(arguments[0]));
        for (IItemIterable items : events.apply(ItemFilters.type(JdkTypeIDs.EXECUTION_SAMPLE))) {
            IMemberAccessor<IMCStackTrace, IItem> stacks = JfrAttributes.EVENT_STACKTRACE.getAccessor(items.getType());
            IMemberAccessor<String, IItem> names = JdkAttributes.EVENT_THREAD_NAME.getAccessor(items.getType());
            for (IItem item : items) {
                samples++;
                threads.add(names.getMember(item));
                IMCStackTrace stack = stacks.getMember(item);
                truncated += stack.getTruncationState() == IMCStackTrace.TruncationState.TRUNCATED ? 1 : 0;
                List<? extends IMCFrame> frames = stack.getFrames();
                Set<String> seen = new HashSet<>();
                for (int depth = 0; depth < frames.size(); depth++) {
                    IMCFrame frame = frames.get(depth);
                    IMCMethod method = frame.getMethod();
                    String name = String.join("\t", method.getType().getFullName(), method.getMethodName(),
                            method.getFormalDescriptor(), frame.getType().getName().toLowerCase());
                    long[] sums = methods.computeIfAbsent(name, key -> new long[2]);
                    sums[0] += depth == 0 ? 1 : 0;
                    sums[1] += seen.add(name) ? 1 : 0;
                    places.merge(name + "\t" + frame.getBCI() + "\t" + frame.getFrameLineNumber(), 1, Integer::sum);
                }
            }
        }
        System.out.println("all\t" + samples + "\t-\t" + truncated + "\t" + threads);
        methods.forEach((name, sums) -> System.out.println(
                "method\t" + name + "\t" + sums[0] + "\t" + sums[1]));
        places.forEach((place, times) -> System.out.println("place\t" + place));
    }
}
