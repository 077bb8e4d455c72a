import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads a recording by the JDK's own reader. Prints for each method its samples as the top frame and anywhere on the
 * stack, and their CPU time; then each place that a frame was at.
 */
public class ByJdk {
    public static void main(String[] arguments) throws Exception {
        Map<String, long[]> methods = new TreeMap<>();
        Map<String, Integer> places = new TreeMap<>();
        Set<String> threads = new HashSet<>();
        long samples = 0, ns = 0, truncated = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(Path.of(arguments[0]))) {
            if (!event.getEventType().getName().equals("jdk.ExecutionSample")) {
                continue;
            }
            samples++;
            long time = event.getDuration("samplingPeriod").toNanos();
            ns += time;
            threads.add(event.getThread("sampledThread").getJavaName() + " " + event.getString("state"));
            truncated += event.getStackTrace().isTruncated() ? 1 : 0;
            List<RecordedFrame> frames = event.getStackTrace().getFrames();
            Set<String> seen = new HashSet<>();
            for (int depth = 0; depth < frames.size(); depth++) {
                RecordedFrame frame = frames.get(depth);
                RecordedMethod method = frame.getMethod();
                String name = String.join("\t", method.getType().getName(), method.getName(),
                        method.getDescriptor(), frame.getType().toLowerCase());
                long[] sums = methods.computeIfAbsent(name, key -> new long[4]);
                if (depth == 0) {
                    sums[0]++;
                    sums[2] += time;
                }
                if (seen.add(name)) {
                    sums[1]++;
                    sums[3] += time;
                }
                places.merge(name + "\t" + frame.getBytecodeIndex() + "\t" + frame.getLineNumber(), 1, Integer::sum);
            }
        }
        System.out.println("all\t" + samples + "\t" + ns + "\t" + truncated + "\t" + threads);
        methods.forEach((name, sums) -> System.out.println(
                "method\t" + name + "\t" + sums[0] + "\t" + sums[1] + "\t" + sums[2] + "\t" + sums[3]));
        places.forEach((place, times) -> System.out.println("place\t" + place));
    }
}
