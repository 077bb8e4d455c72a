package trodden.drivers;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Reads requests of HTTP/1.1 from a connection and answers them, until the other side closes it. */
final class HttpConnection implements Runnable {
    /** What makes the body of an answer; null where there is no such page. */
    interface Pages {
        String answer(String path, Map<String, String> query);
    }

    private static final int LONGEST_LINE = 8_192;

    private final Socket socket;
    private final Pages pages;

    HttpConnection(Socket socket, Pages pages) {
        this.socket = socket;
        this.pages = pages;
    }

    @Override
    public void run() {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream(), 16_384);
            OutputStream out = socket.getOutputStream();
            boolean more = true;
            while (more) {
                String line = line(in);
                if (line == null) {
                    return;
                }
                more = !close(in);
                out.write(response(line, more));
            }
        } catch (IOException e) {
            // The other side has gone.
        }
    }

    /** A line without its end; null if the connection has ended in front of it. */
    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                if (line.length() == 0) {
                    return null;
                }
                throw new EOFException();
            }
            if (c != '\r') {
                line.append((char) c);
            }
            if (line.length() > LONGEST_LINE) {
                throw new IOException("a line is too long");
            }
        }
        return line.toString();
    }

    /** Reads the header; true if it asks for the connection to be closed. */
    private static boolean close(InputStream in) throws IOException {
        boolean close = false;
        for (String field = line(in); field != null && !field.isEmpty(); field = line(in)) {
            int colon = field.indexOf(':');
            if (colon > 0 && field.substring(0, colon).toLowerCase(Locale.ROOT).equals("connection")) {
                close = field.substring(colon + 1).trim().equalsIgnoreCase("close");
            }
        }
        return close;
    }

    private byte[] response(String request, boolean more) {
        String[] words = request.split(" ");
        String body = null;
        String status = "404 Not Found";
        if (words.length != 3 || !words[0].equals("GET")) {
            status = "400 Bad Request";
        } else {
            int question = words[1].indexOf('?');
            String path = question < 0 ? words[1] : words[1].substring(0, question);
            body = pages.answer(path, question < 0 ? Map.of() : query(words[1].substring(question + 1)));
            if (body != null) {
                status = "200 OK";
            }
        }
        byte[] content = (body == null ? "" : body).getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + content.length
                + (more ? "" : "\r\nConnection: close") + "\r\n\r\n";
        byte[] first = head.getBytes(StandardCharsets.US_ASCII);
        byte[] all = new byte[first.length + content.length];
        System.arraycopy(first, 0, all, 0, first.length);
        System.arraycopy(content, 0, all, first.length, content.length);
        return all;
    }

    private static Map<String, String> query(String text) {
        Map<String, String> query = new HashMap<>();
        for (String pair : text.split("&")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                query.put(pair.substring(0, equals), decoded(pair.substring(equals + 1)));
            }
        }
        return query;
    }

    private static String decoded(String text) {
        StringBuilder decoded = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '+') {
                decoded.append(' ');
            } else if (c == '%' && i + 2 < text.length() && digit(text, i + 1) >= 0 && digit(text, i + 2) >= 0) {
                decoded.append((char) (16 * digit(text, i + 1) + digit(text, i + 2)));
                i += 2;
            } else {
                decoded.append(c);
            }
        }
        return decoded.toString();
    }

    private static int digit(String text, int index) {
        return Character.digit(text.charAt(index), 16);
    }
}
