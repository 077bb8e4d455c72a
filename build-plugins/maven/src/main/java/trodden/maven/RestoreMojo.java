package trodden.maven;

import java.io.IOException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/** Puts the original classes back that the goal instrument has replaced. */
@Mojo(name = "restore-instrumented-classes", defaultPhase = LifecyclePhase.PREPARE_PACKAGE, threadSafe = true)
public final class RestoreMojo extends TroddenMojo {
    @Override
    boolean worksUnderAgent() {
        return true;
    }

    @Override
    void work() throws IOException {
        if (!folders().restore()) {
            getLog().info("No instrumented classes to restore");
        }
    }
}
