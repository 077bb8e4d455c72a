package shop;

/** Where somebody sits. */
public final class Seat {
    private Seat() {}

    public static char row(int number) {
        if (number < 10) {
            return 'A';
        }
        return number < 20 ? 'B' : 'C';
    }
}
