package demo.shop;
import java.util.*;
public class Shop {
    static final Map<String,Integer> CACHE = new HashMap<>();
    static int price(String sku) {
        Integer hit = CACHE.get(sku);
        if (hit != null && !sku.startsWith("Z")) return hit;
        int sum = 0;
        for (int i = 0; i < sku.length(); i++) {
            char c = sku.charAt(i);
            if (c >= '0' && c <= '9') sum += c - '0'; else sum += 7;
        }
        CACHE.put(sku, sum);
        return sum;
    }
    static int walk(int n) { return n <= 0 ? 0 : 1 + walk(n - 1); }
    static int order(int k) {
        int total = 0;
        for (String sku : new String[]{"A" + k % 17, "Z" + k % 3, "B7;x"}) total += price(sku);
        switch (k % 4) { case 0: total += walk(3); break; case 1: total += 2; break; default: }
        return total;
    }
    public static void main(String[] a) {
        long t = 0;
        for (int k = 0; k < 20_000; k++) t += order(k);
        System.out.println(t);
    }
}
