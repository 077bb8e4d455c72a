package shop;

/** Sells tickets. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        int sum = 0;
        for (int age = 1; age <= 100; age++) {
            sum += Price.of(age, age % 7 < 2);
        }
        System.out.println("all tickets: " + sum);
    }
}
