package trodden.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Tools;

/** Instruments the module's classes in place. */
abstract class AbstractInstrumentMojo extends TroddenMojo {
    /** From this Java version on, code that loads a library needs a flag that allows it, else the JVM warns. */
    private static final int NATIVE_ACCESS = 24;

    /** The property that the runtime's settings are put into. */
    @Parameter(property = "trodden.propertyName", defaultValue = "argLine")
    private String propertyName;

    /** Instruments, for tests whose profiles go into a folder. */
    void instrument(Path folder) throws IOException {
        if (!Files.isDirectory(classes())) {
            getLog().info("No classes to instrument");
            return;
        }
        Tools tools = tools();
        folders().instrument((from, to) -> {
            List<String> arguments = new ArrayList<>(List.of("instrument", from.toString(), "-o", to.toString(),
                    "--probe", "counters", "--single-path-methods", "probe", "--cut-paths",
                    "count", "--embed-map"));
            includes.forEach(pattern -> arguments.addAll(List.of("--include", pattern)));
            excludes.forEach(pattern -> arguments.addAll(List.of("--exclude", pattern)));
            tools.mustRun(getLog()::info, arguments);
        });
        Files.createDirectories(folder);
        List<String> flags = new ArrayList<>();
        flags.add("-Dtrodden.library=" + tools.library());
        flags.add("-Dtrodden.options=" + Tools.agentOptions(fileOption(folder)));
        if (Runtime.version().feature() >= NATIVE_ACCESS) {
            flags.add("--enable-native-access=ALL-UNNAMED");
        }
        prepend(propertyName, flags);
    }
}
