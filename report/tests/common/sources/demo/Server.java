package demo;

/** A made-up server: the lines are those of `common/requests.rs`. */
final class Server {
    private final Tables tables = new Tables();
    private Item[] items;

    void handle() {
        int n = items.length;
        int i = 0;
        while (i < n) {
            if (items[i].isSpecial()) {
                price(items[i], lookup(i));
            }
            i++; }}
    Table lookup(int region) { Table table = tables.get(region);
        if (table != null) { return table; }
        table = build();
        return tables.put(region, table);
    }
}
