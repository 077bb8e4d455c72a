/** Prices of orders; a test makes one condition hold more often, which is about 1 % more work. */
public class Orders {
    static int price(int quantity, boolean member) {
        int sum = 0;
        for (int i = 0; i < quantity; i++) {
            sum += i % 3 == 0 ? 2 : 1;
        }
        if (member && quantity > 40) {
            sum -= sum / 10 + quantity % 2;
        }
        return sum;
    }

    public static void main(String[] args) {
        long all = 0;
        for (int order = 0; order < 3000; order++) {
            all += price(order % 50, order % 2 == 0);
        }
        System.out.println(all);
    }
}
