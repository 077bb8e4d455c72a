package trodden.drivers;

import java.nio.file.Path;
import java.util.List;
import org.jruby.embed.EmbedEvalUnit;
import org.jruby.embed.LocalContextScope;
import org.jruby.embed.ScriptingContainer;

/** A Ruby program of blocks, hashes, classes and strings, parsed once and run again and again by JRuby. */
final class JrubyDriver extends Driver {
    private static final String PROGRAM = String.join(
            "\n",
            "class Account",
            "  attr_reader :balance",
            "  def initialize; @balance = 0; end",
            "  def move(amount)",
            "    raise ArgumentError, 'overdrawn' if @balance + amount < 0",
            "    @balance += amount",
            "  end",
            "end",
            "seed = 42",
            "random = lambda { |n| seed = (seed * 1103515245 + 12345) % 2147483648; (seed >> 8) % n }",
            "accounts = Array.new(100) { Account.new }",
            "refused = 0",
            "60000.times do",
            "  begin",
            "    accounts[random.call(100)].move(random.call(2001) - 1000)",
            "  rescue ArgumentError",
            "    refused += 1",
            "  end",
            "end",
            "words = Hash.new(0)",
            "60000.times { words[Array.new(3) { 'abcdef'[random.call(6)] }.join] += 1 }",
            "queens = lambda do |n, placed|",
            "  return 1 if placed.size == n",
            "  (0...n).select { |c| placed.each_with_index.all? { |p, r| p != c && (p - c).abs != placed.size - r } }",
            "         .sum { |c| queens.call(n, placed + [c]) }",
            "end",
            "best = words.sort_by { |word, count| [-count, word] }.first(20)",
            "\"#{queens.call(7, [])} #{refused} #{accounts.map(&:balance).sort} #{best}\"",
            "");

    private EmbedEvalUnit program;

    public static void main(String[] args) throws Exception {
        new JrubyDriver().drive(args);
    }

    @Override
    String name() {
        return "jruby";
    }

    @Override
    void prepare(List<Path> inputs) {
        program = new ScriptingContainer(LocalContextScope.SINGLETHREAD).parse(PROGRAM);
    }

    @Override
    void iterate() {
        String text = program.run().toString();
        require(text.startsWith("40 "), "seven queens stand in 40 ways, not so in " + text);
        add(text);
    }
}
