package pairs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A shop that answers requests: parses them, asks a cache, adds up prices, writes an answer. */
public class Shop {
    private static final int PRODUCTS = 400;

    private final Map<String, Product> cache = new HashMap<>();
    private final List<String> audited = new ArrayList<>();
    private long seed = 42;
    private long answered;

    static final class Product {
        final int id;
        final int[] prices;

        Product(int id, int[] prices) {
            this.id = id;
            this.prices = prices;
        }
    }

    static final class Request {
        String customer;
        int product;
        int amount;
        boolean gift;
    }

    public static void main(String[] args) {
        Shop shop = new Shop();
        shop.prepare();
        long sum = 0;
        if (args[0].equals("time")) {
            long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
            while (System.nanoTime() < end) {
                sum += shop.serve(1_000);
            }
        } else {
            sum = shop.serve(Integer.parseInt(args[1]) * 1_000);
        }
        System.out.println(sum != 0 ? "shop done" : "shop did nothing");
    }

    void prepare() {
        for (int i = 0; i < 40; i++) {
            audited.add("customer-" + i * 25);
        }
    }

    long serve(int requests) {
        long sum = 0;
        for (int i = 0; i < requests; i++) {
            Request request = parse(line());
            Product product = lookup(request);
            long price = price(product, request);
            sum += answer(request, price).length();
            answered++;
        }
        return sum;
    }

    String line() {
        int product = next(PRODUCTS);
        int customer = next(1_000);
        int amount = 1 + next(9);
        String line = "customer=customer-" + customer + "&product=" + product + "&amount=" + amount;
        return next(50) == 0 ? line + "&gift=yes" : line;
    }

    int next(int below) {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return (int) ((seed >>> 33) % below);
    }

    Request parse(String line) {
        Request request = new Request();
        int from = 0;
        while (from < line.length()) {
            int equals = line.indexOf('=', from);
            int to = line.indexOf('&', equals);
            if (to < 0) {
                to = line.length();
            }
            String value = line.substring(equals + 1, to);
            switch (line.charAt(from)) {
                case 'c' -> request.customer = value;
                case 'p' -> request.product = number(value);
                case 'a' -> request.amount = number(value);
                default -> request.gift = value.equals("yes");
            }
            from = to + 1;
        }
        return request;
    }

    int number(String text) {
        int number = 0;
        for (int i = 0; i < text.length(); i++) {
            number = number * 10 + text.charAt(i) - '0';
        }
        return number;
    }

    Product lookup(Request request) {
        String key = "product-" + request.product;
        Product product = cache.get(key);
        if (product == null) {
            product = load(request.product);
            cache.put(key, product);
        }
        return product;
    }

    Product load(int id) {
        int[] prices = new int[200];
        int price = 100 + id;
        for (int i = 0; i < prices.length; i++) {
            price = (price * 31 + i) % 10_007;
            prices[i] = price;
        }
        return new Product(id, prices);
    }

    long price(Product product, Request request) {
        long sum = 0;
        for (int i = 0; i < request.amount * 3; i++) {
            int price = product.prices[(i * 7 + product.id) % product.prices.length];
            if (request.gift) {
                price = discount(price, i);
            }
            sum += price;
        }
        return sum;
    }

    int discount(int price, int at) {
        int best = price;
        for (int percent = 1; percent < 30; percent++) {
            int candidate = price - price * percent / 100 + (at ^ percent) % 3;
            if (candidate < best) {
                best = candidate;
            }
        }
        return best;
    }

    String answer(Request request, long price) {
        StringBuilder text = new StringBuilder(64);
        text.append("{\"customer\":\"").append(request.customer).append("\",\"price\":").append(price);
        if (request.gift) {
            text.append(",\"gift\":true");
        }
        return text.append('}').toString();
    }
}
