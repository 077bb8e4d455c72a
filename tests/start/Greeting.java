import java.util.List;
import java.util.TreeMap;

/** Starts, does a little with lambdas and strings made at run time, prints it, and ends. */
public final class Greeting {
    private Greeting() {}

    static int kind(int number) {
        return number % 3 == 0 ? 1 : number % 5 == 0 ? 2 : 3;
    }

    public static void main(String[] arguments) {
        TreeMap<Integer, Integer> kinds = new TreeMap<>();
        for (int number = 0; number < 10_000; number++) {
            kinds.merge(kind(number), 1, Integer::sum);
        }
        List<Integer> more = List.of(1, 2).stream().map(number -> number + kinds.size()).toList();
        System.out.println(kinds + " " + more);
    }
}
