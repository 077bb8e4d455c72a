package trodden.maven;

import java.io.IOException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/**
 * Instruments the module's classes in place, for tests that cannot take an agent. To be undone by
 * restore-instrumented-classes before they are packed.
 */
@Mojo(name = "instrument", defaultPhase = LifecyclePhase.PROCESS_CLASSES, threadSafe = true)
public final class InstrumentMojo extends AbstractInstrumentMojo {
    @Override
    void work() throws IOException {
        instrument(data());
    }
}
