package trodden.drivers;

import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.python.core.PyCode;
import org.python.util.PythonInterpreter;

/** A Python program of dictionaries, classes, generators and strings, compiled and run by Jython. */
final class JythonDriver extends Driver {
    private static final String PROGRAM = String.join(
            "\n",
            "class Account(object):",
            "    def __init__(self, owner): self.owner, self.balance = owner, 0",
            "    def move(self, amount):",
            "        if self.balance + amount < 0: raise ValueError('overdrawn')",
            "        self.balance += amount",
            "def random(seed):",
            "    while True:",
            "        seed = (seed * 1103515245 + 12345) % 2147483648",
            "        yield seed >> 8",
            "def collatz(n, known):",
            "    path = []",
            "    while n not in known:",
            "        path.append(n)",
            "        n = n // 2 if n % 2 == 0 else 3 * n + 1",
            "    steps = known[n]",
            "    for m in reversed(path):",
            "        steps += 1",
            "        known[m] = steps",
            "    return steps",
            "def queens(n, row, columns, left, right):",
            "    if row == n: return 1",
            "    return sum(queens(n, row + 1, columns | {c}, left | {row - c}, right | {row + c})",
            "        for c in range(n) if c not in columns and row - c not in left and row + c not in right)",
            "numbers = random(42)",
            "accounts = [Account('owner%d' % i) for i in range(100)]",
            "refused = 0",
            "for i in range(120000):",
            "    try: accounts[next(numbers) % 100].move(next(numbers) % 2001 - 1000)",
            "    except ValueError: refused += 1",
            "known = {1: 0}",
            "longest = max(range(1, 60000), key=lambda n: collatz(n, known))",
            "words = {}",
            "for i in range(120000):",
            "    word = ''.join('abcdef'[next(numbers) % 6] for _ in range(3))",
            "    words[word] = words.get(word, 0) + 1",
            "best = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:20]",
            "print refused, longest, known[longest], queens(7, 0, frozenset(), frozenset(), frozenset())",
            "print sorted(a.balance for a in accounts)",
            "print ' '.join('%s=%d' % item for item in best)",
            "");

    private final PythonInterpreter python = new PythonInterpreter();
    private PyCode code;

    public static void main(String[] args) throws Exception {
        new JythonDriver().drive(args);
    }

    @Override
    String name() {
        return "jython";
    }

    @Override
    void prepare(List<Path> inputs) {
        code = python.compile(PROGRAM, "bank.py");
    }

    @Override
    void iterate() {
        StringWriter text = new StringWriter();
        python.setOut(text);
        python.exec(code);
        require(text.toString().contains(" 40\n"), "seven queens stand in 40 ways, not so in " + text);
        add(text.toString());
    }
}
