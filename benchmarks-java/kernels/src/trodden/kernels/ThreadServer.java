package trodden.kernels;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A server on the loopback interface with a thread per connection, virtual ones where the JDK has them (21 and
 * later), and as many clients. Each request asks for the number of prime factors of a number.
 */
final class ThreadServer implements Kernel {
    private static final int CLIENTS = 32;
    private static final int REQUESTS = 150;

    @Override
    public String name() {
        return "threadserver";
    }

    @Override
    public long run() {
        ExecutorService threads = threadPerTask();
        try (ServerSocket server = new ServerSocket(0, CLIENTS, InetAddress.getLoopbackAddress())) {
            List<Future<Long>> clients = new ArrayList<>();
            for (int client = 0; client < CLIENTS; client++) {
                int id = client;
                clients.add(threads.submit(() -> ask(server.getLocalPort(), id)));
            }
            for (int client = 0; client < CLIENTS; client++) {
                Socket connection = server.accept();
                threads.execute(() -> serve(connection));
            }
            long total = 0;
            for (Future<Long> client : clients) {
                total += client.get();
            }
            return total;
        } catch (IOException | InterruptedException | ExecutionException e) {
            throw new IllegalStateException("server failed", e);
        } finally {
            threads.shutdown();
        }
    }

    @Override
    public long expected() {
        long total = 0;
        for (int client = 0; client < CLIENTS; client++) {
            for (int request = 0; request < REQUESTS; request++) {
                total += factors(question(client, request));
            }
        }
        return total;
    }

    private static long ask(int port, int client) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            DataInputStream in = new DataInputStream(socket.getInputStream());
            long total = 0;
            for (int request = 0; request < REQUESTS; request++) {
                out.writeLong(question(client, request));
                total += in.readInt();
            }
            out.writeLong(0);
            return total;
        }
    }

    private static void serve(Socket connection) {
        try (connection) {
            connection.setTcpNoDelay(true);
            DataOutputStream out = new DataOutputStream(connection.getOutputStream());
            DataInputStream in = new DataInputStream(connection.getInputStream());
            for (long question = in.readLong(); question != 0; question = in.readLong()) {
                out.writeInt(factors(question));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long question(int client, int request) {
        return 1_000_000_007L + 7919L * client + 104_729L * request;
    }

    private static int factors(long number) {
        int count = 0;
        long rest = number;
        for (long divisor = 2; divisor * divisor <= rest; divisor++) {
            while (rest % divisor == 0) {
                rest /= divisor;
                count++;
            }
        }
        return rest > 1 ? count + 1 : count;
    }

    /** {@code Executors.newVirtualThreadPerTaskExecutor()} by reflection, because this compiles for JDK 17. */
    private static ExecutorService threadPerTask() {
        if (Runtime.version().feature() < 21) {
            return Executors.newCachedThreadPool();
        }
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no virtual threads although the JDK should have them", e);
        }
    }
}
