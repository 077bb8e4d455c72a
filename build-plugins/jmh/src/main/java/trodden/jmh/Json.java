package trodden.jmh;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the JSON that trodden writes: objects as maps, arrays as lists, numbers as doubles. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.wrong();
        }
        return value;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean take(char c) {
        space();
        boolean there = at < text.length() && text.charAt(at) == c;
        at += there ? 1 : 0;
        return there;
    }

    private void must(char c) {
        if (!take(c)) {
            throw wrong();
        }
    }

    private Object value() {
        space();
        if (take('{')) {
            Map<String, Object> map = new LinkedHashMap<>();
            if (!take('}')) {
                do {
                    space();
                    must('"');
                    String key = string();
                    must(':');
                    map.put(key, value());
                } while (take(','));
                must('}');
            }
            return map;
        }
        if (take('[')) {
            List<Object> list = new ArrayList<>();
            if (!take(']')) {
                do {
                    list.add(value());
                } while (take(','));
                must(']');
            }
            return list;
        }
        if (take('"')) {
            return string();
        }
        int from = at;
        while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        switch (word) {
            case "null":
                return null;
            case "true":
                return true;
            case "false":
                return false;
            default:
                try {
                    return Double.valueOf(word);
                } catch (NumberFormatException e) {
                    throw wrong();
                }
        }
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            if (c != '\\') {
                out.append(c);
                continue;
            }
            if (at == text.length()) {
                break;
            }
            char escape = text.charAt(at++);
            int plain = "nrtbf".indexOf(escape);
            if (escape == 'u' && at + 4 <= text.length()) {
                out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                out.append(plain < 0 ? escape : "\n\r\t\b\f".charAt(plain));
            }
        }
        throw wrong();
    }
}
