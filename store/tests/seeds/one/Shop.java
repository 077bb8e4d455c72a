package shop;

/** A build of a small service; `two` is the next one. `record.sh` makes profiles of both. */
public class Shop {
    private final java.util.Map<Integer, Integer> cache = new java.util.HashMap<>();

    static int price(int age, boolean member) {
        int price = 10;
        if (age < 12) {
            price = 5;
        }
        if (member) {
            price -= 1;
        }
        return price;
    }

    int lookup(int key, int rounds) {
        Integer hit = cache.get(key % rounds);
        if (hit != null) {
            return hit;
        }
        int made = load(key);
        cache.put(key % rounds, made);
        return made;
    }

    static int load(int key) {
        int sum = 0;
        for (int i = 0; i < 20; i++) {
            if ((key + i) % 3 == 0) {
                sum += i;
            }
        }
        return sum;
    }

    static String label(int amount) {
        return switch (amount % 4) {
            case 0 -> "none";
            case 1 -> "few";
            case 2 -> amount < 0 ? "owed" : "some";
            default -> amount > 1_000_000 ? "lots" : "many";
        };
    }

    static int refund(int amount) {
        return amount > 100 ? 100 : amount;
    }

    int serve(int request, int distinct, boolean children) {
        int age = children && request % 5 == 0 ? 7 : 30;
        return price(age, request % 4 == 1) + lookup(request, distinct) + label(request).length();
    }

    public static void main(String[] arguments) {
        int distinct = Integer.parseInt(arguments[0]);
        boolean children = Boolean.parseBoolean(arguments[1]);
        Shop shop = new Shop();
        int sum = 0;
        for (int request = 0; request < 200_000; request++) {
            sum += shop.serve(request, distinct, children);
        }
        System.out.println(sum);
    }
}
