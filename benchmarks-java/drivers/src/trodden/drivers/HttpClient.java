package trodden.drivers;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One connection to the server; a request is sent and its answer read before the next. */
final class HttpClient implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    HttpClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream(), 65_536);
        out = socket.getOutputStream();
    }

    /** The body of the answer. Fails if that is not 200. */
    byte[] get(String path) throws IOException {
        out.write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        String status = line();
        if (!status.equals("HTTP/1.1 200 OK")) {
            throw new IOException(path + ": " + status);
        }
        int length = -1;
        for (String field = line(); !field.isEmpty(); field = line()) {
            if (field.startsWith("Content-Length: ")) {
                length = Integer.parseInt(field.substring(16));
            }
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException(path);
        }
        return body;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException();
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
