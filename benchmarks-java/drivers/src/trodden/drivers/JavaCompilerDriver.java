package trodden.drivers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A Java compiler over the sources of libraries: the same files and the same arguments for each of them. */
abstract class JavaCompilerDriver extends Driver {
    /** Where class files go. */
    Path out;

    /** What javac's command line would be. */
    final List<String> arguments = new ArrayList<>();

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
}
