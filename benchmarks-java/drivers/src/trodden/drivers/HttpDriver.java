package trodden.drivers;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;

/**
 * The HTTP server. As an application: the same requests over one connection in every iteration. With {@code
 * --serve}: prints its port, answers until its standard input ends, then prints the processor time of its
 * process in nanoseconds.
 */
final class HttpDriver extends Driver {
    private static final int REQUESTS = 20_000;

    private HttpService service;

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("--serve")) {
            serve();
        } else {
            new HttpDriver().drive(args);
        }
    }

    private static void serve() throws IOException {
        try (HttpService service = new HttpService()) {
            System.out.println("port " + service.port());
            System.in.transferTo(java.io.OutputStream.nullOutputStream());
        }
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        System.out.println("cpu " + system.getProcessCpuTime());
        System.exit(0);
    }

    @Override
    String name() {
        return "http";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        service = new HttpService();
    }

    @Override
    void iterate() throws Exception {
        try (HttpClient client = new HttpClient(service.port())) {
            for (int number = 0; number < REQUESTS; number++) {
                add(client.get(HttpService.request(number)));
            }
        }
    }
}
