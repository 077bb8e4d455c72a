package trodden.drivers;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/** Eclipse's compiler over the sources of libraries. */
final class EcjDriver extends Driver {
    private Path out;
    private final List<String> arguments = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        new EcjDriver().drive(args);
    }

    @Override
    String name() {
        return "ecj";
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
        StringWriter messages = new StringWriter();
        PrintWriter writer = new PrintWriter(messages);
        boolean good = BatchCompiler.compile(arguments.toArray(new String[0]), writer, writer, null);
        require(good, "ECJ failed: " + messages);
        require(Sources.addClasses(out, output) > 100, "ECJ wrote too few classes");
    }
}
