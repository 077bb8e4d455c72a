package trodden.drivers;

import groovy.lang.Binding;
import groovy.lang.GroovyShell;
import groovy.lang.Script;
import java.nio.file.Path;
import java.util.List;

/** A Groovy program of closures, maps, ranges and operator overloading, compiled once and run again and again. */
final class GroovyDriver extends Driver {
    private static final String PROGRAM = String.join(
            "\n",
            "class Money {",
            "    final long cents",
            "    Money(long cents) { this.cents = cents }",
            "    Money plus(Money other) { new Money(cents + other.cents) }",
            "    boolean equals(Object other) { other instanceof Money && other.cents == cents }",
            "    int hashCode() { cents as int }",
            "}",
            "long seed = 42",
            "def random = { int n -> seed = (seed * 1103515245L + 12345L) % 2147483648L; (int) ((seed >> 8) % n) }",
            "def accounts = (0..<100).collectEntries { [it, new Money(0)] }",
            "60000.times { accounts[random(100)] += new Money(random(2001) - 1000) }",
            "def words = [:].withDefault { 0 }",
            "60000.times { words[(1..3).collect { 'abcdef'[random(6)] }.join('')]++ }",
            "def queens",
            "queens = { int n, List<Integer> placed ->",
            "    if (placed.size() == n) return 1",
            "    (0..<n).findAll { c ->",
            "        placed.withIndex().every { p, r -> p != c && Math.abs(p - c) != placed.size() - r }",
            "    }.sum(0) { c -> queens(n, placed + [c]) }",
            "}",
            "def primes = (2..6000).findAll { n -> (2..Math.max(2, (int) Math.sqrt(n))).every { n == it || n % it } }",
            "def best = words.sort { a, b -> b.value <=> a.value ?: a.key <=> b.key }.take(20)",
            "\"${queens(7, [])} ${primes.size()} ${accounts.values()*.cents} ${best}\".toString()",
            "");

    private Script script;

    public static void main(String[] args) throws Exception {
        new GroovyDriver().drive(args);
    }

    @Override
    String name() {
        return "groovy";
    }

    @Override
    void prepare(List<Path> inputs) {
        script = new GroovyShell(new Binding()).parse(PROGRAM, "Bank.groovy");
    }

    @Override
    void iterate() {
        String text = (String) script.run();
        require(text.startsWith("40 783 "), "seven queens in 40 ways, 783 primes up to 6000, not so in " + text);
        add(text);
    }
}
