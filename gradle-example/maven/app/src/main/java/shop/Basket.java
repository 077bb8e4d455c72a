package shop;

import java.util.ArrayList;
import java.util.List;

/** Tickets to be paid. */
public final class Basket {
    private final List<Integer> prices = new ArrayList<>();

    public Basket add(int age, boolean weekend) {
        prices.add(Price.of(age, weekend));
        return this;
    }

    public int total() {
        int total = 0;
        for (int price : prices) {
            total += price;
        }
        return total > 300 ? total - 30 : total;
    }
}
