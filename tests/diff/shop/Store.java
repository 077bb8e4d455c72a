package shop;

/** Finds a value the slow way. */
class Store {
    String load(String key) {
        int found = 0;
        for (int i = 0; i < 5_000; i++) {
            if (matches(key, i)) {
                found++;
            }
        }
        return key + found;
    }

    private boolean matches(String key, int i) {
        int hash = i;
        for (int at = 0; at < key.length(); at++) {
            hash = hash * 31 + key.charAt(at);
        }
        return hash % 7 == 3;
    }
}
