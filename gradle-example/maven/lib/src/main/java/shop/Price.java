package shop;

/** What a ticket costs. */
public final class Price {
    private Price() {}

    public static int of(int age, boolean weekend) {
        int price = 100;
        if (age < 12) {
            price = 50;
        }
        if (weekend) {
            price += 20;
        }
        return price;
    }

    public static int refund(int price) {
        return price > 60 ? price / 2 : 0;
    }
}
