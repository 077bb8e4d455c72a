// tableswitch, lookupswitch, shared targets, a default shared with keys, switches on strings and enums.
public class Switches {
    enum Colour {
        RED,
        GREEN,
        BLUE
    }

    static int table(int x) {
        switch (x) { // expect switch 1=2 2=2 3=2 4=2 default=12
            case 1:
                return 10;
            case 2:
                return 20;
            case 3:
                return 30;
            case 4:
                return 40;
            default:
                return 0;
        }
    }

    static int lookup(int x) {
        switch (x) { // expect switch -7=2 0=2 9=2 default=14
            case -7:
                return 1;
            case 0:
                return 2;
            case 9:
                return 3;
            default:
                return 4;
        }
    }

    static int shared(int x) {
        switch (x) { // expect switch 1|2|3=6 4|6=4 default|5=10
            case 1:
            case 2:
            case 3:
                return 1;
            case 4:
            case 6:
                return 2;
            case 5:
            default:
                return 3;
        }
    }

    static int fallThrough(int x) {
        int r = 0;
        switch (x & 3) { // expect switch 0=5 1=5 2=5 default=5
            case 0:
                r += 1;
            case 1:
                r += 2;
            case 2:
                r += 4;
        }
        return r;
    }

    // javac numbers the strings by a lookupswitch over hash codes, then a tableswitch over those numbers.
    static int strings(String s) {
        switch (s) {
            case "Aa":
                return 1;
            case "BB":
                return 2;
            case "other":
                return 3;
            default:
                return 4;
        }
    }
    // expect total strings = 5

    static int enums(Colour c) {
        switch (c) { // expect switch 1=3 2=3 default=3
            case RED:
                return 1;
            case GREEN:
                return 2;
            default:
                return 3;
        }
    }

    static int arrows(int x) {
        return switch (x) { // expect switch 1|2=4 100000=0 default=16
            case 1, 2 -> x * 2;
            case 100_000 -> -1;
            default -> {
                int y = x + 1;
                yield y * y;
            }
        };
    }

    static int onlyDefault(int x) {
        int r = 1;
        switch (x) { // expect switch default=20
            default:
                r = 2;
        }
        return r > x ? r : x; // expect taken=14 not-taken=6
    }

    static int inLoop(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) { // expect taken=1 not-taken=30
            switch (i % 3) { // expect switch 0=10 1=10 default=10
                case 0:
                    continue;
                case 1:
                    sum += i;
                    break;
                default:
                    sum -= 1;
            }
            sum *= 3;
        }
        return sum;
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int j = 0; j < 2; j++) {
            for (int i = -1; i < 9; i++) {
                sum = sum * 31 + table(i);
                sum = sum * 31 + lookup(i == 8 ? 9 : i == -1 ? -7 : i);
                sum = sum * 31 + shared(i);
                sum = sum * 31 + fallThrough(i + j * 2);
                sum = sum * 31 + arrows(i);
                sum = sum * 31 + onlyDefault(i + j * 2 - 1);
            }
        }
        for (String s : new String[] {"Aa", "BB", "other", "C#", "none"}) {
            sum = sum * 31 + strings(s);
        }
        for (int i = 0; i < 3; i++) {
            for (Colour c : Colour.values()) {
                sum = sum * 31 + enums(c);
            }
        }
        System.out.println(sum + " " + inLoop(30));
    }
}
