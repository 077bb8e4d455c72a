package shop;

/** When it is. */
public enum Season {
    SUMMER,
    WINTER;

    public static Season of(int month) {
        return month >= 4 && month <= 9 ? SUMMER : WINTER;
    }
}
