/** Calls generated methods: arguments CLASS METHOD:FROM:TO … CLASS …; prints each result, or the exception. */
public final class Driver {
    public static void main(String[] arguments) throws Exception {
        Class<?> type = null;
        for (String argument : arguments) {
            String[] words = argument.split(":");
            if (words.length == 1) {
                type = Class.forName(argument);
                continue;
            }
            StringBuilder line = new StringBuilder(argument);
            for (int x = Integer.parseInt(words[1]); x <= Integer.parseInt(words[2]); x++) {
                try {
                    line.append(' ').append(type.getMethod(words[0], int.class).invoke(null, x));
                } catch (java.lang.reflect.InvocationTargetException e) {
                    line.append(' ').append(e.getCause());
                }
            }
            System.out.println(line);
        }
    }
}
