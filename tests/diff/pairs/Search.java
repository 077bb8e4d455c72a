package pairs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** Indexes documents, then answers queries with two threads. */
public class Search {
    private static final int WORDS = 3_000;

    private final Map<String, int[]> index = new HashMap<>();
    private final AtomicLong asked = new AtomicLong();

    record Hit(int document, int score) {}

    public static void main(String[] args) throws Exception {
        Search search = new Search();
        search.index(documents(400));
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Long>> parts = new ArrayList<>();
        for (int thread = 0; thread < 2; thread++) {
            int first = thread;
            parts.add(pool.submit(() -> search.client(first, args)));
        }
        long sum = 0;
        for (Future<Long> part : parts) {
            sum += part.get();
        }
        pool.shutdown();
        System.out.println(sum != 0 && search.asked.get() != 0 ? "search done" : "search did nothing");
    }

    static List<String> documents(int count) {
        List<String> documents = new ArrayList<>();
        long seed = 11;
        for (int i = 0; i < count; i++) {
            StringBuilder text = new StringBuilder();
            for (int word = 0; word < 200; word++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                long random = (seed >>> 33) % WORDS;
                text.append("word").append(random * random / WORDS).append(word % 10 == 9 ? ". " : " ");
            }
            documents.add(text.toString());
        }
        return documents;
    }

    void index(List<String> documents) {
        for (int document = 0; document < documents.size(); document++) {
            for (String word : words(documents.get(document))) {
                int[] old = index.getOrDefault(word, new int[0]);
                if (old.length == 0 || old[old.length - 1] != document) {
                    int[] longer = Arrays.copyOf(old, old.length + 1);
                    longer[old.length] = document;
                    index.put(word, longer);
                }
            }
        }
    }

    List<String> words(String text) {
        List<String> words = new ArrayList<>();
        int from = -1;
        for (int i = 0; i <= text.length(); i++) {
            boolean letter = i < text.length() && Character.isLetterOrDigit(text.charAt(i));
            if (letter && from < 0) {
                from = i;
            } else if (!letter && from >= 0) {
                words.add(text.substring(from, i));
                from = -1;
            }
        }
        return words;
    }

    long client(int thread, String[] args) {
        long sum = 0;
        if (args[0].equals("time")) {
            long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
            for (int i = thread; System.nanoTime() < end; i += 2) {
                sum += answer(i);
            }
        } else {
            int queries = Integer.parseInt(args[1]) * 100;
            for (int i = thread; i < queries; i += 2) {
                sum += answer(i);
            }
        }
        return sum;
    }

    int answer(int number) {
        asked.incrementAndGet();
        String[] query = {"word" + number % 40, "word" + number * 7 % 300, "word" + number * 31 % 2_000};
        int[] scores = new int[400];
        for (String word : query) {
            score(word, scores);
        }
        List<Hit> best = best(scores, 10);
        return page(query, best).length();
    }

    void score(String word, int[] scores) {
        int[] found = index.get(word);
        if (found == null) {
            return;
        }
        int weight = 1 + 1_000 / (1 + found.length);
        for (int document : found) {
            scores[document] += weight;
        }
    }

    List<Hit> best(int[] scores, int count) {
        PriorityQueue<Hit> heap = new PriorityQueue<>((a, b) -> Integer.compare(a.score(), b.score()));
        for (int document = 0; document < scores.length; document++) {
            if (scores[document] == 0) {
                continue;
            }
            if (heap.size() < count) {
                heap.add(new Hit(document, scores[document]));
            } else if (heap.peek().score() < scores[document]) {
                heap.poll();
                heap.add(new Hit(document, scores[document]));
            }
        }
        return new ArrayList<>(heap);
    }

    String page(String[] query, List<Hit> hits) {
        String found = hits.stream()
                .filter(hit -> hit.score() > 1)
                .map(hit -> hit.document() + ":" + hit.score())
                .collect(Collectors.joining(", "));
        return String.join(" ", query) + " = " + found;
    }
}
