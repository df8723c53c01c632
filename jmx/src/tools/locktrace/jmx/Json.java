package tools.locktrace.jmx;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the JSON that the JVM writes: objects as maps, arrays as lists, whole numbers as {@code Long},
 * others as {@code Double}. A library for that would have to be kept apart from the application's own.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        if (json.at < text.length()) {
            throw json.unexpected();
        }
        return value;
    }

    /** Returns the object, or an empty one if it is missing. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value == null ? Collections.emptyMap() : (Map<String, Object>) value;
    }

    /** Returns the array, or an empty one if it is missing. */
    @SuppressWarnings("unchecked")
    static List<Object> array(Object value) {
        return value == null ? Collections.emptyList() : (List<Object>) value;
    }

    /** Returns the number, or 0 if it is missing. */
    static long number(Object value) {
        return value == null ? 0 : ((Number) value).longValue();
    }

    private Object value() {
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return literal("true", true);
            case 'f':
                return literal("false", false);
            case 'n':
                return literal("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        while (peek() != '}') {
            if (!members.isEmpty()) {
                expect(',');
            }
            peek();
            String name = string();
            expect(':');
            members.put(name, value());
        }
        expect('}');
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        expect('[');
        while (peek() != ']') {
            if (!elements.isEmpty()) {
                expect(',');
            }
            elements.add(value());
        }
        expect(']');
        return elements;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        expect('"');
        while (true) {
            char next = next();
            if (next == '"') {
                return string.toString();
            }
            string.append(next == '\\' ? escaped() : next);
        }
    }

    private char escaped() {
        char next = next();
        switch (next) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                at += 4;
                if (at > text.length()) {
                    throw unexpected();
                }
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return next;
        }
    }

    private Number number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(start, at);
        if (number.isEmpty()) {
            throw unexpected();
        }
        if (number.matches("-?\\d{1,18}")) {
            return Long.valueOf(number);
        }
        return Double.valueOf(number);
    }

    private Object literal(String name, Object value) {
        if (!text.startsWith(name, at)) {
            throw unexpected();
        }
        at += name.length();
        return value;
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw unexpected();
        }
        at++;
    }

    private char next() {
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at++);
    }

    /** The next character that is no space. */
    private char peek() {
        skipSpace();
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("no JSON at offset " + at);
    }
}
