import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/** Runs the main method of another class once it reads a line. */
class Later {
    public static void main(String[] arguments) throws Throwable {
        System.out.println("ready");
        System.in.read();
        var type = MethodType.methodType(void.class, String[].class);
        var main = MethodHandles.lookup().findStatic(Class.forName(arguments[0]), "main", type);
        main.invokeExact(Arrays.copyOfRange(arguments, 1, arguments.length));
    }
}
