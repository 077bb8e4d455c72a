package demo;

/** For the report's tests: a loop with a choice, a switch, a handler, and a loop with a single path. */
class Shop<T> {
    int price(int[] items, int rebate) {
        int sum = 0;
        for (int i = 0; i < items.length; i++) {
            int item = items[i];
            if (item > 100 && rebate < 3) {
                sum += item - rebate;
            } else {
                sum += item;
            }
        }
        try {
            check(sum);
        } catch (IllegalStateException e) {
            sum = 0;
        }
        return sum;
    }

    static String grade(int points) {
        switch (points) {
            case 1: return "poor";
            case 2:
            case 3: return "fair";
            default: break;
        }
        if (points < 0) {
            throw new IllegalArgumentException("<" + points + ">");
        }
        return "good";
    }

    void fill(byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = 1;
        }
    }
}
