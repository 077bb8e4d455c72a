package demo.shop;
/** The shop for long enough that its CPU time is sampled. */
public class Rush {
    public static void main(String[] a) {
        for (int hour = 0; hour < 60; hour++) Shop.main(a);
    }
}
