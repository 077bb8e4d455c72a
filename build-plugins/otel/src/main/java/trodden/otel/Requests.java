package trodden.otel;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import trodden.Span;

/**
 * An extension of OpenTelemetry's Java agent: its spans of requests are Trodden's. These are spans of servers and
 * consumers, and those without a parent. A span gets the name that it has at its end, with the route.
 */
public final class Requests implements AutoConfigurationCustomizerProvider, SpanProcessor {
    /** Spans that are open at a time; more are not seen, so that spans which never end take no memory. */
    private static final int MOST = 10_000;

    private final Map<String, Span> open = new ConcurrentHashMap<>();

    @Override
    public void customize(AutoConfigurationCustomizer configuration) {
        configuration.addTracerProviderCustomizer((provider, properties) -> provider.addSpanProcessor(this));
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
        SpanKind kind = span.getKind();
        boolean isRequest = kind == SpanKind.SERVER || kind == SpanKind.CONSUMER || !span.getParentSpanContext().isValid();
        if (isRequest && open.size() < MOST) {
            open.put(span.getSpanContext().getSpanId(), Span.begin(span.getName()));
        }
    }

    @Override
    public boolean isStartRequired() {
        return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {
        Span ends = open.remove(span.getSpanContext().getSpanId());
        if (ends != null) {
            ends.rename(span.getName());
            ends.close();
        }
    }

    @Override
    public boolean isEndRequired() {
        return true;
    }
}
