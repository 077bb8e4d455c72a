package trodden.drivers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The Scala compiler over some packages of its own library. */
final class ScalaDriver extends Driver {
    private Path out;
    private final List<String> sources = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        new ScalaDriver().drive(args);
    }

    @Override
    String name() {
        return "scala";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        Path folder = Sources.temporaryFolder();
        out = folder.resolve("out");
        for (Path input : inputs) {
            Sources.unpack(
                    Sources.read(input, n -> n.endsWith(".scala") && n.startsWith("scala/util/")), folder);
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.map(Path::toString).filter(f -> f.endsWith(".scala")).sorted().forEach(sources::add);
        }
        require(sources.size() >= 15, "too few Scala sources");
    }

    @Override
    void iterate() throws Exception {
        Sources.clear(out);
        Files.createDirectories(out);
        List<String> arguments = new ArrayList<>(
                List.of("-usejavacp", "-nowarn", "-Ybackend-parallelism", "1", "-d", out.toString()));
        arguments.addAll(sources);
        require(scala.tools.nsc.Main.process(arguments.toArray(new String[0])), "scalac failed");
        require(Sources.addClasses(out, output) > 15, "scalac wrote too few classes");
    }
}
