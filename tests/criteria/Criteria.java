/* The functions of criteria.c, line for line: see gcc-output. */
public class Criteria {
    static int both(int a, int b) {
        if (a > 0 && b > 0) {
            return 1;
        }
        return 0;
    }

    static int either(int a, int b) {
        if (a > 0 || b > 0) {
            return 1;
        }
        return 0;
    }

    static int mixed(int a, int b, int c) {
        int r = 0;
        if ((a > 0 && b > 0) || c > 0) {
            r = 1;
        }
        return r;
    }

    static int product(int a, int b, int c, int d) {
        int r = 0;
        if ((a > 0 || b > 0) && (c > 0 || d > 0)) {
            r = 1;
        } else {
            r = 2;
        }
        return r;
    }

    static int deep(int a, int b, int c, int d) {
        int r = 0;
        if (a > 0 && (b > 0 || (c > 0 && d > 0))) {
            r = 1;
        }
        return r;
    }

    static int leap(int year) {
        if ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0) {
            return 366;
        }
        return 365;
    }

    static int triangle(int a, int b, int c) {
        if (a <= 0 || b <= 0 || c <= 0) {
            return 0;
        }
        if (a == b && b == c) {
            return 3;
        }
        if (a == b || b == c || a == c) {
            return 2;
        }
        return 1;
    }

    static int sum(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += i;
        }
        return s;
    }

    static int gcd(int a, int b) {
        while (b != 0) {
            int t = a % b;
            a = b;
            b = t;
        }
        return a;
    }

    static int search(int wanted, int size) {
        int low = 0;
        int high = size - 1;
        while (low <= high) {
            int middle = (low + high) / 2;
            if (middle * 3 == wanted) {
                return middle;
            }
            if (middle * 3 < wanted) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    static int scan(int start, int limit) {
        int i = start;
        while (i < limit && i % 7 != 0) {
            i++;
        }
        return i;
    }

    static int table(int rows, int columns) {
        int cells = 0;
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                if (r != c) {
                    cells++;
                }
            }
        }
        return cells;
    }

    static int grade(int points) {
        int g;
        if (points >= 90) {
            g = 1;
        } else if (points >= 70) {
            g = 2;
        } else if (points >= 50) {
            g = 3;
        } else {
            g = 6;
        }
        return g;
    }

    static int digits(int n) {
        int d = 0;
        do {
            d++;
            n /= 10;
        } while (n > 0 && d < 5);
        return d;
    }

    static int clamp(int x, int low, int high) {
        int r = x;
        if (low > high) {
            r = low;
        }
        if (r < low) {
            r = low;
        }
        if (r > high) {
            r = high;
        }
        return r;
    }

    static int primes(int limit) {
        int found = 0;
        for (int n = 2; n <= limit; n++) {
            int prime = 1;
            for (int d = 2; d * d <= n && prime > 0; d++) {
                if (n % d == 0) {
                    prime = 0;
                }
            }
            found += prime;
        }
        return found;
    }

    static int halve(int n) {
        do {
            n /= 2;
        } while (n > 10);
        return n;
    }

    static int nested(int a, int b) {
        int r = 0;
        if (a > 0 || b > 5) {
            if (b > 0) {
                r = 1;
            }
        }
        return r;
    }

    static int letter(int kind, int plain) {
        int r;
        switch (kind) {
            case 1:
                r = 10;
                break;
            case 2:
            case 3:
                r = 20;
                break;
            default:
                r = 30;
        }
        if (plain > 0) {
            r++;
        }
        return r;
    }

    static int truth(int a, int b, int c) {
        int r = a > 0 && (b > 0 || c > 0) ? 5 : 6;
        return r;
    }

    static int skip(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            if (i % 3 == 0) {
                continue;
            }
            if (s > 20 || i > 9) {
                break;
            }
            s += i;
        }
        return s;
    }

    public static void main(String[] arguments) {
        int s = 0;
        s += both(1, 1) + both(0, 1);
        s += either(0, 0) + either(1, 0) + either(0, 1);
        s += mixed(1, 1, 0) + mixed(1, 0, 1) + mixed(1, 0, 0);
        s += product(1, 0, 1, 0) + product(0, 1, 0, 1) + product(1, 0, 0, 0);
        s += deep(1, 0, 1, 1) + deep(1, 0, 1, 0) + deep(0, 1, 1, 1);
        s += leap(2024) + leap(2023) + leap(1900);
        s += triangle(3, 4, 5) + triangle(3, 3, 3) + triangle(0, 1, 1) + triangle(3, 3, 4);
        s += sum(0) + sum(3);
        s += gcd(12, 18);
        s += search(9, 10) + search(4, 10) + search(1, 0);
        s += scan(1, 20) + scan(8, 5);
        s += table(2, 1) + table(1, 3);
        s += grade(95) + grade(55);
        s += digits(7) + digits(123);
        s += clamp(5, 1, 3) + clamp(0, 1, 3);
        s += primes(4) + primes(9);
        s += halve(50);
        s += nested(1, 0) + nested(0, 6) + nested(0, 0);
        s += letter(1, 0) + letter(3, 1);
        s += truth(1, 0, 1) + truth(1, 0, 0);
        s += skip(1) + skip(12);
        System.out.println(s);
    }
}
