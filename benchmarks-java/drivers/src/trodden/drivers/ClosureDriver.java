package trodden.drivers;

import com.google.javascript.jscomp.CompilationLevel;
import com.google.javascript.jscomp.Compiler;
import com.google.javascript.jscomp.CompilerOptions;
import com.google.javascript.jscomp.SourceFile;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Closure Compiler with simple optimisations over a JavaScript library. */
final class ClosureDriver extends Driver {
    private static final Pattern WANTED = Pattern.compile(".*/jquery\\.js");
    private final List<SourceFile> scripts = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        new ClosureDriver().drive(args);
    }

    @Override
    String name() {
        return "closure";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        for (Path input : inputs) {
            Sources.read(input, n -> WANTED.matcher(n).matches())
                    .forEach((name, text) -> scripts.add(SourceFile.fromCode(name, text)));
        }
        require(scripts.size() == 1, "the script is not there");
    }

    @Override
    void iterate() {
        Compiler compiler = new Compiler(new PrintStream(PrintStream.nullOutputStream()));
        compiler.disableThreads();
        CompilerOptions options = new CompilerOptions();
        CompilationLevel.SIMPLE_OPTIMIZATIONS.setOptionsForCompilationLevel(options);
        options.setLanguageOut(CompilerOptions.LanguageMode.ECMASCRIPT5);
        var result = compiler.compile(List.of(SourceFile.fromCode("externs.js", "")), scripts, options);
        require(result.success, "Closure Compiler failed: " + result.errors);
        add(compiler.toSource());
    }
}
