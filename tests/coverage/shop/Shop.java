package shop;

import java.util.function.IntUnaryOperator;

/** Code that coverage has to distinguish; nothing in here is left out by JaCoCo's filters. */
public class Shop {
    private final int discount;

    Shop(int discount) {
        this.discount = discount;
    }

    int price(int age, boolean weekend) {
        int price = 100;
        if (age < 12) {
            price = 50;
        }
        if (weekend) {
            price += 20;
        }
        return price - discount;
    }

    int sum(int[] ages) {
        int sum = 0;
        for (int age : ages) {
            sum += age > 60 || age < 12 ? price(age, false) : price(age, true);
        }
        return sum;
    }

    static String day(int day) {
        switch (day) {
            case 1:
            case 2:
                return "early";
            case 3:
                return "middle";
            case 90:
                return "never";
            default:
                return "late";
        }
    }

    static int parse(String text) {
        try {
            return check(Integer.parseInt(text));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    static int check(int value) {
        if (value < 0) {
            throw new IllegalArgumentException("negative");
        }
        return value;
    }

    static void caught() {
        try {
            check(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }

    static int lambda(int n) {
        IntUnaryOperator twice = i -> i > 10 ? i : 2 * i;
        return twice.applyAsInt(n);
    }

    int notCalled(int n) {
        return n > 0 ? n : -n;
    }

    static class Inner {
        int level = 1;

        void raise() {
            level++;
        }
    }

    public static void main(String[] args) {
        Shop shop = new Shop(5);
        System.out.println(shop.price(8, false) + " " + shop.price(30, true) + " " + shop.price(40, true));
        System.out.println(shop.sum(new int[] {5, 30, 70}));
        System.out.println(day(1) + day(3) + day(7));
        System.out.println(parse("12") + parse("no number"));
        caught();
        System.out.println(lambda(4));
        new Inner().raise();
    }
}
