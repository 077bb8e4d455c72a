import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;

/** How many objects the JVM keeps for their {@code finalize()}: none whose class has an empty one. */
public class Finalizers {
    static class Real {
        static int ran;

        @Override
        @SuppressWarnings("removal")
        protected void finalize() {
            ran++;
        }
    }

    /** Wants none any more. */
    static class Empty extends Real {
        @Override
        @SuppressWarnings("removal")
        protected void finalize() {
        }
    }

    public static void main(String[] args) throws Exception {
        long before = registered();
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            kept.add(new Empty());
        }
        long empty = registered() - before;
        for (int i = 0; i < 3000; i++) {
            kept.add(new Real());
        }
        long all = registered() - before;
        // The JVM has some of its own, which come and go.
        System.out.println(empty / 500 + " " + all / 500 + " of " + kept.size());
    }

    /** Instances of {@code Finalizer}, after a garbage collection. */
    static long registered() throws Exception {
        ObjectName name = new ObjectName("com.sun.management:type=DiagnosticCommand");
        String text = (String) ManagementFactory.getPlatformMBeanServer().invoke(name, "gcClassHistogram",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
        for (String line : text.split("\n")) {
            String[] words = line.trim().split("\\s+");
            if (words.length > 3 && words[3].equals("java.lang.ref.Finalizer")) {
                return Long.parseLong(words[1]);
            }
        }
        return 0;
    }
}
