package trodden.kernels;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An address book in memory: find, add, remove, modify, and sort by one field after the other. */
final class Database implements Kernel {
    private static final int RECORDS = 12_000;
    private static final int OPERATIONS = 60_000;
    private static final int SORT_EVERY = 10_000;

    private static final class Entry {
        final int key;
        final String[] fields;

        Entry(int key, Rng random) {
            this.key = key;
            fields = new String[] {word(random, 6), word(random, 10), String.valueOf(random.nextInt(100_000))};
        }
    }

    /** Entries in an order that the last sort left; looked up by walking, or by halving when sorted by key. */
    private static final class Book {
        private Entry[] entries = new Entry[16];
        private int size;

        void add(Entry entry) {
            if (size == entries.length) {
                entries = java.util.Arrays.copyOf(entries, 2 * size);
            }
            entries[size++] = entry;
        }

        Entry remove(int index) {
            Entry removed = entries[index];
            entries[index] = entries[--size];
            return removed;
        }

        /** Shell sort; ties are broken by key, so that every sort gives one order. */
        void sort(int field) {
            for (int gap = size / 2; gap > 0; gap = gap == 2 ? 1 : (int) (gap / 2.2)) {
                for (int i = gap; i < size; i++) {
                    Entry entry = entries[i];
                    int at = i;
                    while (at >= gap && compare(entries[at - gap], entry, field) > 0) {
                        entries[at] = entries[at - gap];
                        at -= gap;
                    }
                    entries[at] = entry;
                }
            }
        }

        int countPrefix(int field, String prefix) {
            int found = 0;
            for (int i = 0; i < size; i++) {
                if (entries[i].fields[field].startsWith(prefix)) {
                    found++;
                }
            }
            return found;
        }
    }

    @Override
    public String name() {
        return "db";
    }

    @Override
    public long run() {
        Rng random = new Rng(15);
        Book book = new Book();
        int keys = 0;
        while (keys < RECORDS) {
            book.add(new Entry(keys++, random));
        }
        long sum = 0;
        for (int operation = 1; operation <= OPERATIONS; operation++) {
            switch (random.nextInt(4)) {
                case 0 -> book.add(new Entry(keys++, random));
                case 1 -> sum = Checks.mix(sum, book.remove(random.nextInt(book.size)).key);
                case 2 -> book.entries[random.nextInt(book.size)].fields[0] = word(random, 6);
                default -> {
                    if (operation % 64 == 0) {
                        sum = Checks.mix(sum, book.countPrefix(operation % 2, word(random, 1)));
                    }
                }
            }
            if (operation % SORT_EVERY == 0) {
                int field = operation / SORT_EVERY % 3;
                book.sort(field);
                for (int i = 0; i < book.size; i++) {
                    sum = Checks.mix(sum, book.entries[i].key);
                }
            }
        }
        return sum;
    }

    /** The same operations on the library's lists, maps and sort. */
    @Override
    public long expected() {
        Rng random = new Rng(15);
        List<Entry> book = new ArrayList<>();
        int keys = 0;
        while (keys < RECORDS) {
            book.add(new Entry(keys++, random));
        }
        long sum = 0;
        for (int operation = 1; operation <= OPERATIONS; operation++) {
            int kind = random.nextInt(4);
            if (kind == 0) {
                book.add(new Entry(keys++, random));
            } else if (kind == 1) {
                int index = random.nextInt(book.size());
                sum = Checks.mix(sum, book.get(index).key);
                book.set(index, book.get(book.size() - 1));
                book.remove(book.size() - 1);
            } else if (kind == 2) {
                book.get(random.nextInt(book.size())).fields[0] = word(random, 6);
            } else if (operation % 64 == 0) {
                int field = operation % 2;
                Map<Character, Integer> byInitial = new HashMap<>();
                book.forEach(entry -> byInitial.merge(entry.fields[field].charAt(0), 1, Integer::sum));
                sum = Checks.mix(sum, byInitial.getOrDefault(word(random, 1).charAt(0), 0));
            }
            if (operation % SORT_EVERY == 0) {
                int field = operation / SORT_EVERY % 3;
                book.sort(Comparator.comparing((Entry entry) -> entry.fields[field]).thenComparing(entry -> entry.key));
                for (Entry entry : book) {
                    sum = Checks.mix(sum, entry.key);
                }
            }
        }
        return sum;
    }

    private static int compare(Entry left, Entry right, int field) {
        int order = left.fields[field].compareTo(right.fields[field]);
        return order != 0 ? order : Integer.compare(left.key, right.key);
    }

    private static String word(Rng random, int length) {
        char[] letters = new char[length];
        for (int i = 0; i < length; i++) {
            letters[i] = (char) ('a' + random.nextInt(26));
        }
        return new String(letters);
    }
}
