package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.OutputDirectory;
import trodden.build.Folders;

/** Puts probes into the main classes; they run as the originals do, and are profiled where the runtime's options ask for it. */
public class InstrumentTask extends TroddenTask {
    private Provider<File> destination;

    /** Where the instrumented classes go: one folder for each folder of classes. */
    @OutputDirectory
    public File getDestination() {
        return destination.get();
    }

    /** The options that decide which probes there are. */
    @Input
    public List<String> getScope() {
        return settings().scope();
    }

    void destination(Provider<File> destination) {
        this.destination = destination;
    }

    @Override
    void work() throws IOException {
        Path out = destination.get().toPath();
        Folders.delete(out);
        java.nio.file.Files.createDirectories(out);
        for (Path folder : classPaths()) {
            // …/classes/java/main: each language has a folder of its own.
            String name = folder.getParent().getFileName().toString();
            List<String> arguments = new ArrayList<>(Arrays.asList("instrument", folder.toString(), "-o",
                    out.resolve(name).toString(), "--probe", "counters", "--single-path-methods",
                    "probe", "--cut-paths", "count", "--embed-map"));
            arguments.addAll(settings().scope());
            tools().mustRun(this::say, arguments);
        }
    }
}
