package trodden.drivers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** The JDK's own compiler over the sources of libraries. */
final class JavacDriver extends Driver {
    private Path out;
    private final List<String> arguments = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        new JavacDriver().drive(args);
    }

    @Override
    String name() {
        return "javac";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        Path folder = Sources.temporaryFolder();
        Path sources = folder.resolve("sources");
        out = folder.resolve("out");
        for (Path input : inputs) {
            Sources.unpack(Sources.read(input, n -> n.endsWith(".java") && !n.endsWith("module-info.java")), sources);
        }
        arguments.addAll(List.of("--release", "11", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", out.toString()));
        try (Stream<Path> files = Files.walk(sources)) {
            files.map(Path::toString).filter(f -> f.endsWith(".java")).sorted().forEach(arguments::add);
        }
    }

    @Override
    void iterate() throws Exception {
        Sources.clear(out);
        Files.createDirectories(out);
        var silent = new java.io.ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, silent, silent, arguments.toArray(new String[0]));
        require(status == 0, "javac failed: " + silent);
        require(Sources.addClasses(out, output) > 100, "javac wrote too few classes");
    }
}
