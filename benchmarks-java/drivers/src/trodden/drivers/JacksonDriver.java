package trodden.drivers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** JSON read into trees and into objects, and written again. */
final class JacksonDriver extends Driver {
    private static final int ORDERS = 4000;
    private static final int ROUNDS = 40;

    /** An order, bound by its components' names. */
    public record Order(int id, String customer, double total, boolean paid, List<Line> lines, Map<String, String> notes) {}

    /** A line of an order. */
    public record Line(String article, int count, double price) {}

    private final ObjectMapper mapper = new ObjectMapper();
    private byte[] document;

    public static void main(String[] args) throws Exception {
        new JacksonDriver().drive(args);
    }

    @Override
    String name() {
        return "jackson";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        Random random = new Random(42);
        ArrayNode orders = mapper.createArrayNode();
        for (int id = 0; id < ORDERS; id++) {
            ObjectNode order = orders.addObject();
            order.put("id", id);
            order.put("customer", "K\u00f6nig \"" + Integer.toString(random.nextInt(1_000_000), 36) + "\"\n");
            order.put("total", random.nextInt(1_000_000) / 100.0);
            order.put("paid", random.nextBoolean());
            ArrayNode lines = order.putArray("lines");
            for (int line = random.nextInt(6); line >= 0; line--) {
                lines.addObject()
                        .put("article", "article " + random.nextInt(500))
                        .put("count", random.nextInt(20))
                        .put("price", random.nextInt(10_000) / 100.0);
            }
            order.putObject("notes").put("colour", "blue").put("ship", "by " + random.nextInt(31));
        }
        document = mapper.writeValueAsBytes(orders);
    }

    @Override
    void iterate() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Order[] orders = mapper.readValue(document, Order[].class);
            byte[] written = mapper.writeValueAsBytes(orders);
            JsonNode tree = mapper.readTree(written);
            require(tree.size() == ORDERS, "orders were lost");
            require(java.util.Arrays.equals(mapper.writeValueAsBytes(tree), document), "the document changed");
            add(written);
        }
    }
}
