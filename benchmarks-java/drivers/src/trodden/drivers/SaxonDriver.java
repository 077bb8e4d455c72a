package trodden.drivers;

import java.nio.file.Path;
import java.util.List;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.SaxonApiException;
import net.sf.saxon.s9api.XQueryExecutable;

/** An XQuery over a document that it makes itself: joins, grouping, recursion, strings. Compiled once. */
final class SaxonDriver extends Driver {
    private static final String QUERY = String.join(
            "\n",
            "declare function local:queens($n as xs:integer, $placed as xs:integer*) as xs:integer {",
            "  if (count($placed) = $n) then 1 else sum(",
            "    for $c in 1 to $n",
            "    where every $r in 1 to count($placed)",
            "      satisfies ($placed[$r] ne $c and abs($placed[$r] - $c) ne count($placed) + 1 - $r)",
            "    return local:queens($n, ($placed, $c)))",
            "};",
            "let $orders := <orders>{",
            "  for $i in 1 to 3000 return",
            "    <order id=\"{$i}\" customer=\"c{$i * 7919 mod 100}\"><sum>{$i * 104729 mod 1000}</sum></order>",
            "}</orders>",
            "let $sums :=",
            "  for $order in $orders/order",
            "  group by $customer := string($order/@customer)",
            "  order by sum($order/sum) descending, $customer",
            "  return concat($customer, '=', sum($order/sum))",
            "let $pairs := count(",
            "  for $a in $orders/order[sum > 950], $b in $orders/order[sum > 950]",
            "  where $a/@customer = $b/@customer and $a/@id < $b/@id return 1)",
            "return concat(local:queens(6, ()), ' ', $pairs, ' ', string-join($sums, ' '))",
            "");

    private XQueryExecutable query;

    public static void main(String[] args) throws Exception {
        new SaxonDriver().drive(args);
    }

    @Override
    String name() {
        return "saxon";
    }

    @Override
    void prepare(List<Path> inputs) throws SaxonApiException {
        query = new Processor(false).newXQueryCompiler().compile(QUERY);
    }

    @Override
    void iterate() throws SaxonApiException {
        String text = query.load().evaluate().toString();
        require(text.startsWith("4 "), "six queens stand in 4 ways, not so in " + text);
        add(text);
    }
}
