package trodden.drivers;

import java.nio.file.Files;
import javax.tools.ToolProvider;

/** The JDK's own compiler over the sources of libraries. */
final class JavacDriver extends JavaCompilerDriver {
    public static void main(String[] args) throws Exception {
        new JavacDriver().drive(args);
    }

    @Override
    String name() {
        return "javac";
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
