package shop;

import com.code_intelligence.jazzer.api.Jazzer;
import trodden.PathFeedback;

/**
 * Calls {@link Shipping} with what Jazzer makes up. With Trodden's agent Jazzer hears which paths an input took, and keeps one that
 * took a new one; without the agent it hears of edges only, as always.
 */
public final class PriceFuzzer {
    private PriceFuzzer() {
    }

    private static final PathFeedback PATHS = new PathFeedback(1 << 16);

    public static void fuzzerTestOneInput(byte[] parcel) {
        PATHS.begin();
        try {
            Shipping.price(parcel);
        } finally {
            if (PATHS.end()) {
                // A counter of its own for each path.
                PATHS.forEach(path -> Jazzer.maximize(1, 1, 1, 1, path));
            }
        }
    }
}
