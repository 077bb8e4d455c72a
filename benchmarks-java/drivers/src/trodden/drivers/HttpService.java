package trodden.drivers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * A small HTTP server: articles that are searched, priced and listed. A thread per connection, which is kept.
 *
 * <p>What it answers depends on the request alone, so that checksums of answers can be compared.
 */
final class HttpService implements AutoCloseable {
    private static final int ARTICLES = 3_000;

    /** An article of the shop. */
    record Article(int id, String name, String group, int cents, int stock) {}

    private final ServerSocket listening;
    private final List<Article> articles = new ArrayList<>();
    private final Map<String, List<Article>> groups = new HashMap<>();
    private volatile boolean closed;

    HttpService() throws IOException {
        Random random = new Random(7);
        for (int id = 0; id < ARTICLES; id++) {
            String name = Integer.toString(random.nextInt(1_000_000), 36) + "-" + Integer.toString(id, 36);
            Article article = new Article(id, name, "g" + random.nextInt(40), random.nextInt(50_000), random.nextInt(20));
            articles.add(article);
            groups.computeIfAbsent(article.group(), group -> new ArrayList<>()).add(article);
        }
        listening = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
        Thread accepting = new Thread(this::accept, "accept");
        accepting.setDaemon(true);
        accepting.start();
    }

    int port() {
        return listening.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listening.close();
    }

    private void accept() {
        while (!closed) {
            try {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                Thread thread = new Thread(new HttpConnection(socket, this::answer), "connection");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                if (!closed) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /** The body of the answer, or null if there is no such page. */
    private String answer(String path, Map<String, String> query) {
        return switch (path) {
            case "/search" -> search(query.getOrDefault("q", ""));
            case "/price" -> price(query);
            case "/group" -> group(query.getOrDefault("name", ""), "price".equals(query.get("by")));
            default -> null;
        };
    }

    private String search(String text) {
        String wanted = text.toLowerCase(Locale.ROOT);
        StringBuilder json = new StringBuilder("[");
        int found = 0;
        for (Article article : articles) {
            if (article.name().contains(wanted)) {
                if (found++ > 0) {
                    json.append(',');
                }
                append(json, article);
                if (found == 25) {
                    break;
                }
            }
        }
        return json.append(']').toString();
    }

    private String price(Map<String, String> query) {
        long cents = 0;
        int missing = 0;
        for (String part : query.getOrDefault("articles", "").split(",")) {
            int id;
            try {
                id = Integer.parseInt(part);
            } catch (NumberFormatException e) {
                missing++;
                continue;
            }
            if (id < 0 || id >= articles.size()) {
                missing++;
                continue;
            }
            Article article = articles.get(id);
            long price = article.cents();
            if (article.stock() == 0) {
                missing++;
            } else if (article.stock() > 15) {
                price -= price / 10;
            }
            cents += price;
        }
        if (cents > 100_000) {
            cents -= cents / 20;
        }
        return "{\"cents\":" + cents + ",\"missing\":" + missing + "}";
    }

    private String group(String name, boolean byPrice) {
        List<Article> sorted = new ArrayList<>(groups.getOrDefault(name, List.of()));
        sorted.sort(byPrice
                ? (a, b) -> Integer.compare(a.cents(), b.cents())
                : (a, b) -> a.name().compareTo(b.name()));
        StringBuilder json = new StringBuilder("[");
        for (Article article : sorted) {
            if (json.length() > 1) {
                json.append(',');
            }
            append(json, article);
        }
        return json.append(']').toString();
    }

    private static void append(StringBuilder json, Article article) {
        json.append("{\"id\":").append(article.id()).append(",\"name\":\"");
        String name = article.name();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\');
            }
            json.append(c);
        }
        json.append("\",\"cents\":").append(article.cents());
        if (article.stock() == 0) {
            json.append(",\"out\":true");
        }
        json.append('}');
    }

    /** The request of this number: a fifth are lists, two fifths searches, two fifths prices. */
    static String request(int number) {
        int seed = number * 0x9E3779B9;
        int drawn = seed >>> 8;
        return switch (Math.floorMod(number, 5)) {
            case 0 -> "/group?name=g" + drawn % 40 + (drawn % 3 == 0 ? "&by=price" : "");
            case 1, 2 -> "/search?q=" + Integer.toString(drawn % 1_296, 36);
            default -> {
                StringBuilder path = new StringBuilder("/price?articles=");
                for (int i = 0; i < 20; i++) {
                    path.append(i == 0 ? "" : ",").append((drawn + i * 7_919) % (ARTICLES + 50));
                }
                yield path.toString();
            }
        };
    }
}
