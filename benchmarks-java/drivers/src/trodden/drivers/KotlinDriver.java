package trodden.drivers;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jetbrains.kotlin.cli.common.ExitCode;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

/** The Kotlin compiler over the sources of a library. */
final class KotlinDriver extends Driver {
    private Path sources;
    private Path out;

    public static void main(String[] args) throws Exception {
        new KotlinDriver().drive(args);
    }

    @Override
    String name() {
        return "kotlin";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        Path folder = Sources.temporaryFolder();
        sources = folder.resolve("sources");
        out = folder.resolve("out");
        for (Path input : inputs) {
            var texts = Sources.read(input, n -> n.endsWith(".kt"));
            // Written for an older standard library: uses of what is an error by now (JvmDefault) are let
            // pass.
            texts.replaceAll((name, text) -> "@file:Suppress(\"DEPRECATION_ERROR\")\n" + text);
            Sources.unpack(texts, sources);
        }
    }

    @Override
    void iterate() throws Exception {
        Sources.clear(out);
        Files.createDirectories(out);
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        ExitCode status = new K2JVMCompiler()
                .exec(
                        new PrintStream(messages),
                        "-no-stdlib", "-nowarn", "-jvm-target", "11",
                        "-classpath", System.getProperty("java.class.path"),
                        "-d", out.toString(),
                        sources.toString());
        require(status == ExitCode.OK, "kotlinc failed: " + messages);
        require(Sources.addClasses(out, output) > 20, "kotlinc wrote too few classes");
    }
}
