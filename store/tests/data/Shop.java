import java.util.ArrayList;
import java.util.List;

/** A small shop: branches, a switch, loops, calls in chains, an exception. */
public class Shop {
    record Item(String name, int price, int count) {}

    static int discount(Item item, boolean member) {
        if (item.price() > 100 && member) {
            return item.price() / 10;
        }
        return item.count() > 10 ? 1 : 0;
    }

    static int shipping(String country) {
        switch (country) {
            case "DE": return 5;
            case "FR": return 7;
            case "US": return 20;
            default: throw new IllegalArgumentException(country);
        }
    }

    static int total(List<Item> items, boolean member) {
        int sum = 0;
        for (Item item : items) {
            if (item.count() == 0) {
                continue;
            }
            sum += item.price() * item.count() - discount(item, member);
        }
        return sum;
    }

    static int order(int number) {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < number % 7; i++) {
            items.add(new Item("item" + i, 20 * (number % 11), i % 3 * 6));
        }
        String[] countries = {"DE", "FR", "US", "XX"};
        try {
            return total(items, number % 2 == 0) + shipping(countries[number % 4]);
        } catch (IllegalArgumentException e) {
            return -1;
        }
    }

    static int neverCalled(int x) {
        return x > 3 ? x : -x;
    }

    public static void main(String[] arguments) {
        int orders = Integer.parseInt(arguments[0]);
        long sum = 0;
        for (int i = 0; i < orders; i++) {
            sum += order(i);
        }
        System.out.println(sum);
    }
}
