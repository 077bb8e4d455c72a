package trodden.drivers;

import freemarker.template.Configuration;
import freemarker.template.Template;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TimeZone;

/** A page of orders with macros, conditions, number formats and escaping, made by FreeMarker. */
final class FreemarkerDriver extends Driver {
    private static final int ORDERS = 400;
    private static final int ROUNDS = 60;
    private static final String PAGE = String.join(
            "\n",
            "<#macro money value><#if (value < 0)><em>${value?string('0.00')}</em><#else>${value?string('0.00')}</#if></#macro>",
            "<#function total order><#local sum = 0><#list order.lines as line><#local sum += line.count * line.price></#list><#return sum></#function>",
            "<h1>${title?html}</h1>",
            "<#list orders?sort_by('customer') as order>",
            "<#if order?index % 7 == 0><hr></#if>",
            "<h2>${order?counter}. ${order.customer?cap_first?html}<#if order.paid> (paid)<#elseif (total(order) > 500)> (large)</#if></h2>",
            "<table><#list order.lines as line><tr class='${line?item_parity}'><td>${line.article?upper_case?right_pad(14)}</td><td>${line.count?c}</td><td><@money line.price/></td></tr><#else><tr/></#list></table>",
            "<#switch order.id % 4><#case 0>N<#break><#case 1>E<#break><#default>S</#switch> <@money total(order)/>",
            "</#list>",
            "<#assign articles = {}><#list orders as order><#list order.lines as line><#if !articles[line.article]??><#assign articles += {line.article: line.count}></#if></#list></#list>",
            "<#list articles?keys?sort as key>${key}=${articles[key]}<#sep>, </#list>");

    /** An order. */
    public record Order(int id, String customer, boolean paid, List<Map<String, Object>> lines) {
        public int getId() {
            return id;
        }

        public String getCustomer() {
            return customer;
        }

        public boolean isPaid() {
            return paid;
        }

        public List<Map<String, Object>> getLines() {
            return lines;
        }
    }

    private Template template;
    private Map<String, Object> model;

    public static void main(String[] args) throws Exception {
        new FreemarkerDriver().drive(args);
    }

    @Override
    String name() {
        return "freemarker";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        Configuration configuration = new Configuration(Configuration.VERSION_2_3_33);
        configuration.setLocale(Locale.ROOT);
        configuration.setTimeZone(TimeZone.getTimeZone("UTC"));
        template = new Template("page", PAGE, configuration);
        Random random = new Random(42);
        List<Order> orders = new ArrayList<>();
        for (int id = 0; id < ORDERS; id++) {
            List<Map<String, Object>> lines = new ArrayList<>();
            for (int line = random.nextInt(6); line > 0; line--) {
                lines.add(Map.of(
                        "article", "article " + random.nextInt(60),
                        "count", random.nextInt(20),
                        "price", random.nextInt(10_000) / 100.0 - 5));
            }
            String customer = "k\u00f6nig <" + Integer.toString(random.nextInt(1_000_000), 36) + ">";
            orders.add(new Order(id, customer, random.nextBoolean(), lines));
        }
        model = Map.of("title", "Orders & more", "orders", orders);
    }

    @Override
    void iterate() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            StringWriter page = new StringWriter();
            template.process(model, page);
            require(page.toString().contains("<h2>400. "), "orders are missing");
            add(page.toString());
        }
    }
}
