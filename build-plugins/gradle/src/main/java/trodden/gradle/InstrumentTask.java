package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gradle.api.tasks.OutputDirectory;
import trodden.build.Folders;

/** Puts probes into the main classes; they run as the originals do, and are profiled where the runtime's options ask for it. */
public class InstrumentTask extends TroddenTask {
    private File destination;

    /** Where the instrumented classes go: one folder for each folder of classes. */
    @OutputDirectory
    public File getDestination() {
        return destination;
    }

    void setDestination(File destination) {
        this.destination = destination;
    }

    @Override
    void work() throws IOException {
        Folders.delete(destination.toPath());
        java.nio.file.Files.createDirectories(destination.toPath());
        for (Path folder : classPaths()) {
            // …/classes/java/main: each language has a folder of its own.
            String name = folder.getParent().getFileName().toString();
            List<String> arguments = new ArrayList<>(Arrays.asList("instrument", folder.toString(), "-o",
                    destination.toPath().resolve(name).toString(), "--probe", "counters", "--single-path-methods",
                    "probe", "--cut-paths", "count", "--embed-map"));
            arguments.addAll(scope());
            tools().mustRun(this::say, arguments);
        }
    }
}
