package shop;

import java.util.HashMap;
import java.util.Map;

/** Remembers what the store said. */
class Cache {
    static class Entry {
        final String value;
        final String region;

        Entry(String value, String region) {
            this.value = value;
            this.region = region;
        }
    }

    private final Map<String, Entry> entries = new HashMap<>();

    Entry lookup(String key, String region) {
        Entry hit = entries.get(key);
        if (hit != null) {
            return hit;
        }
        return null;
    }

    void put(String key, String region, String value) {
        entries.put(key, new Entry(value, region));
    }

    int size() {
        int size = 0;
        for (Entry entry : entries.values()) {
            if (entry.value != null) {
                size++;
            }
        }
        return size;
    }
}
