import java.util.Arrays;

/** Orders of a customer come with one query; those of a customer that was just moved come one by one. */
public class OneByOne {
    record Customer(int id, boolean moved, int orders) {}

    static final class Database {
        private final long[] pages = new long[1200];
        private long queries;

        long query(int key, int rows) {
            queries++;
            long sum = plan(key);
            for (int i = 0; i < rows; i++) {
                sum += pages[(key + i) % pages.length];
            }
            return sum;
        }

        private long plan(int key) {
            long cost = key;
            for (int i = 0; i < 300; i++) {
                cost = cost * 31 + (cost >>> 5);
                if ((cost & 15) == 0) {
                    cost++;
                }
            }
            pages[(int) ((cost >>> 8) % pages.length + pages.length) % pages.length] = cost & 255;
            return cost & 3;
        }
    }

    static final class Orders {
        private final Database database = new Database();

        long load(Customer customer) {
            if (!customer.moved()) { // cause: no, time
                return database.query(customer.id(), customer.orders());
            }
            return single(customer);
        }

        private long single(Customer customer) {
            long sum = 0;
            for (int i = 0; i < customer.orders(); i++) {
                sum += database.query(customer.id() + i, 1);
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Customer[] customers = new Customer[50];
        for (int i = 0; i < 50; i++) {
            customers[i] = new Customer(i * 100, i == 0, 90);
        }
        Orders orders = new Orders();
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 40_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 50);
            long before = Truth.now();
            for (int j = 1; j < 50; j++) {
                sum += orders.load(customers[j]) & 7;
            }
            truth.add(0, 49, before);
            before = Truth.now();
            sum += orders.load(customers[0]) & 7;
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
