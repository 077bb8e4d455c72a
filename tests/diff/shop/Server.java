package shop;

/** Answers requests from a cache, or from a slow store. */
public class Server {
    private final Cache cache = new Cache();
    private final Store store = new Store();

    String answer(int request) {
        String key = "item" + request % 40;
        // One round in twenty comes from another region.
        String region = request / 40 % 20 == 7 ? "north" : "south";
        Cache.Entry hit = cache.lookup(key, region);
        if (hit == null) {
            String value = store.load(key);
            cache.put(key, region, value);
            return value;
        }
        return hit.value;
    }

    public static void main(String[] args) {
        int requests = args.length > 0 ? Integer.parseInt(args[0]) : 20_000;
        Server server = new Server();
        long sum = 0;
        for (int i = 0; i < requests; i++) {
            sum += server.answer(i).length();
        }
        System.out.println(sum);
    }
}
