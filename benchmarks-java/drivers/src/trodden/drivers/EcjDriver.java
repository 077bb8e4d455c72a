package trodden.drivers;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/** Eclipse's compiler over the sources of libraries. */
final class EcjDriver extends JavaCompilerDriver {
    public static void main(String[] args) throws Exception {
        new EcjDriver().drive(args);
    }

    @Override
    String name() {
        return "ecj";
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
