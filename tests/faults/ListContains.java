import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Audited requests look their user up in a list, all others in a set. */
public class ListContains {
    record User(int id, boolean audited) {}

    static final class Access {
        private final List<Integer> history = new ArrayList<>();
        private final Set<Integer> allowed = new HashSet<>();

        Access() {
            for (int i = 0; i < 4000; i++) {
                history.add(i * 3);
                allowed.add(i);
            }
        }

        int check(User user, int page) {
            int right = 0;
            if (allowed.contains(user.id())) {
                right = 1;
            }
            if (user.audited()) { // cause: yes, time
                if (!history.contains(user.id() * 3 + 1)) {
                    right += 2;
                }
            }
            if (page > 100) {
                right += 4;
            }
            return right;
        }
    }

    public static void main(String[] args) {
        User[] users = new User[50];
        for (int i = 0; i < 50; i++) {
            users[i] = new User(i * 37, i == 0);
        }
        Access access = new Access();
        Background background = new Background();
        Truth truth = new Truth();
        int rounds = Truth.rounds(args, 250_000);
        for (int i = 0; i < rounds; i++) {
            long sum = background.steps(i, 50);
            long before = Truth.now();
            for (int j = 1; j < 50; j++) {
                sum += access.check(users[j], (i + j) % 120);
            }
            truth.add(0, 49, before);
            before = Truth.now();
            sum += access.check(users[0], i % 120);
            truth.add(1, 1, before);
            truth.leave(sum);
        }
        truth.print();
    }
}
