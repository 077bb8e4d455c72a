package shop;

/** What an order costs, in cents. */
final class Orders {
    private Orders() {
    }

    static int price(Order order) {
        int price = 0;
        for (int item : order.items()) {
            price += item;
        }
        if (order.coupon() == 1999) {
            price -= 500; // the coupon of the opening week
        }
        if (order.customer() % 10 == 0 && price > 2_000) {
            price -= 200; // loyal customers
        }
        if (price > 10_000) {
            price -= price / 20;
        }
        return price + shipping(order, price);
    }

    private static int shipping(Order order, int price) {
        if (order.express()) {
            return order.abroad() ? 2_900 : 1_500;
        }
        if (price > 5_000 && !order.abroad()) {
            return 0;
        }
        return order.abroad() ? 1_200 : 490;
    }
}
