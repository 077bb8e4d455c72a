import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/** Setters are kept by name, but those of one kind are looked up again for each value. */
public class Reflection {
    public static final class Bean {
        private int id;
        private long total;

        public void setId(int id) {
            this.id = id;
        }

        public void setTotal(long total) {
            this.total += total;
        }

        long sum() {
            return id + total;
        }
    }

    static final class Mapper {
        private final Map<String, Integer> direct = new HashMap<>();

        Mapper() {
            direct.put("id", 1);
            direct.put("key", 1);
        }

        void set(Bean bean, String name, int value) throws ReflectiveOperationException {
            Integer known = direct.get(name);
            if (known == null) { // cause: yes
                byName(bean, name, value);
            } else if (known == 1) {
                bean.setId(value);
            } else {
                bean.setTotal(value);
            }
        }

        private void byName(Bean bean, String name, int value) throws ReflectiveOperationException {
            String wanted = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
            for (Method method : bean.getClass().getMethods()) {
                if (method.getName().equals(wanted)) {
                    method.invoke(bean, (long) value);
                    return;
                }
            }
            throw new NoSuchMethodException(name);
        }
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        Mapper mapper = new Mapper();
        Background background = new Background();
        Truth truth = new Truth();
        String[] names = new String[25];
        for (int i = 0; i < 25; i++) {
            names[i] = i == 0 ? "total" : i % 2 == 0 ? "id" : "key";
        }
        Bean bean = new Bean();
        int rounds = Truth.rounds(args, 700_000);
        for (int i = 0; i < rounds; i++) {
            truth.leave(background.steps(i, 8));
            long before = Truth.now();
            for (int j = 1; j < 25; j++) {
                mapper.set(bean, names[j], i);
            }
            truth.add(0, 24, before);
            before = Truth.now();
            mapper.set(bean, names[0], i);
            truth.add(1, 1, before);
        }
        System.out.println("bean " + (bean.sum() != 0));
        truth.print();
    }
}
