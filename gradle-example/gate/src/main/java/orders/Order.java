package orders;

public final class Order {
    private Order() {
    }

    public static int price(int quantity, boolean member) {
        int sum = 0;
        for (int i = 0; i < quantity; i++) {
            sum += i % 3 == 0 ? 2 : 1;
        }
        if (member && quantity > 40) {
            sum -= sum / 10 + quantity % 2;
        }
        return sum;
    }
}
