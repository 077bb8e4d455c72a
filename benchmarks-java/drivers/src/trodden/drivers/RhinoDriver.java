package trodden.drivers;

import java.nio.file.Path;
import java.util.List;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.Script;
import org.mozilla.javascript.Scriptable;
import org.mozilla.javascript.ScriptableObject;

/** A JavaScript program of objects, closures, regular expressions and sorting, in Rhino's interpreter. */
final class RhinoDriver extends Driver {
    private static final String PROGRAM = String.join(
            "\n",
            "function numbers(seed) {",
            "  return function () { seed = (seed * 16807) % 2147483647; return seed; };",
            "}",
            "function Account(owner) { this.owner = owner; this.balance = 0; }",
            "Account.prototype.move = function (amount) {",
            "  if (this.balance + amount < 0) { throw new Error('overdrawn'); }",
            "  this.balance += amount;",
            "};",
            "function queens(n, row, columns, left, right) {",
            "  if (row == n) { return 1; }",
            "  var ways = 0;",
            "  for (var c = 0; c < n; c++) {",
            "    if (!columns[c] && !left[row - c + n] && !right[row + c]) {",
            "      columns[c] = left[row - c + n] = right[row + c] = true;",
            "      ways += queens(n, row + 1, columns, left, right);",
            "      columns[c] = left[row - c + n] = right[row + c] = false;",
            "    }",
            "  }",
            "  return ways;",
            "}",
            "function words(text) {",
            "  var counts = {};",
            "  text.replace(/[a-f]+/g, function (word) { counts[word] = (counts[word] || 0) + 1; return ''; });",
            "  return counts;",
            "}",
            "(function () {",
            "  var next = numbers(42), accounts = [], refused = 0, text = '', i;",
            "  for (i = 0; i < 100; i++) { accounts.push(new Account('owner' + i)); }",
            "  for (i = 0; i < 40000; i++) {",
            "    try { accounts[next() % 100].move(next() % 2001 - 1000); } catch (e) { refused++; }",
            "  }",
            "  var letters = [];",
            "  for (i = 0; i < 60000; i++) { letters.push('abcdef     '.charAt(next() % 10)); }",
            "  var counts = words(letters.join('')), best = [];",
            "  for (var word in counts) { best.push([word, counts[word]]); }",
            "  best.sort(function (a, b) { return b[1] - a[1] || (a[0] < b[0] ? -1 : 1); });",
            "  accounts.sort(function (a, b) { return a.balance - b.balance; });",
            "  return [refused, queens(8, 0, [], [], []), best.slice(0, 20).join(' '),",
            "    accounts.map(function (a) { return a.owner + '=' + a.balance; }).join(' ')].join(';');",
            "})();");

    private Context context;
    private ScriptableObject scope;
    private Script script;

    public static void main(String[] args) throws Exception {
        new RhinoDriver().drive(args);
    }

    @Override
    String name() {
        return "rhino";
    }

    @Override
    void prepare(List<Path> inputs) {
        context = Context.enter();
        context.setOptimizationLevel(-1);
        scope = context.initStandardObjects();
        script = context.compileString(PROGRAM, "bank.js", 1, null);
    }

    @Override
    void iterate() {
        Scriptable own = context.newObject(scope);
        own.setPrototype(scope);
        own.setParentScope(null);
        String text = Context.toString(script.exec(context, own));
        require(text.contains(";92;"), "eight queens stand in 92 ways, not so in " + text);
        add(text);
    }
}
