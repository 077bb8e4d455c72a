package shop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * A service that tells what orders cost, and its customers, who ask it from the same JVM: {@code Shop SEED ORDERS EXPRESS}, EXPRESS
 * in percent. Prints the sum of all prices.
 */
public final class Shop {
    private Shop() {
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Random random = new Random(Long.parseLong(arguments[0]));
        int orders = Integer.parseInt(arguments[1]);
        int express = Integer.parseInt(arguments[2]);
        // Else each answer waits 40 ms for an acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/price", Shop::answer);
        server.start();
        HttpClient client = HttpClient.newHttpClient();
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/price");
        long sum = 0;
        for (int i = 0; i < orders; i++) {
            HttpRequest request = HttpRequest.newBuilder(address).POST(HttpRequest.BodyPublishers.ofString(order(random, express))).build();
            sum += Long.parseLong(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
        }
        server.stop(0);
        System.out.println(sum);
    }

    /** Customer, coupon, express, abroad, then the prices of what was bought. */
    private static String order(Random random, int express) {
        StringBuilder text = new StringBuilder();
        text.append(random.nextInt(1_000)).append(' ').append(random.nextInt(1_000));
        text.append(' ').append(random.nextInt(100) < express).append(' ').append(random.nextInt(8) == 0);
        int items = 1 + random.nextInt(6);
        for (int i = 0; i < items; i++) {
            text.append(' ').append(100 + random.nextInt(4_000));
        }
        return text.toString();
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        byte[] price = Integer.toString(Orders.price(read(text))).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, price.length);
        exchange.getResponseBody().write(price);
        exchange.close();
    }

    private static Order read(String text) {
        String[] words = text.split(" ");
        int[] items = new int[words.length - 4];
        for (int i = 0; i < items.length; i++) {
            items[i] = Integer.parseInt(words[i + 4]);
        }
        return new Order(Integer.parseInt(words[0]), items, Integer.parseInt(words[1]), Boolean.parseBoolean(words[2]),
            Boolean.parseBoolean(words[3]));
    }
}
