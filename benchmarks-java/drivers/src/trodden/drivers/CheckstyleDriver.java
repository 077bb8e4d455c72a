package trodden.drivers;

import com.puppycrawl.tools.checkstyle.Checker;
import com.puppycrawl.tools.checkstyle.ConfigurationLoader;
import com.puppycrawl.tools.checkstyle.PropertiesExpander;
import com.puppycrawl.tools.checkstyle.api.AuditEvent;
import com.puppycrawl.tools.checkstyle.api.AuditListener;
import com.puppycrawl.tools.checkstyle.api.Configuration;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/** Checkstyle with Sun's rules over the sources of a library. */
final class CheckstyleDriver extends Driver implements AuditListener {
    private final List<File> files = new ArrayList<>();
    private Path folder;
    private Configuration configuration;
    private int complaints;

    public static void main(String[] args) throws Exception {
        new CheckstyleDriver().drive(args);
    }

    @Override
    String name() {
        return "checkstyle";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        folder = Sources.temporaryFolder();
        for (Path input : inputs) {
            Sources.unpack(Sources.read(input, CheckstyleDriver::isWanted), folder);
        }
        try (Stream<Path> all = Files.walk(folder)) {
            all.filter(f -> f.toString().endsWith(".java")).sorted().map(Path::toFile).forEach(files::add);
        }
        configuration =
                ConfigurationLoader.loadConfiguration("/sun_checks.xml", new PropertiesExpander(new Properties()));
    }

    /** A part of the library: all of it takes seconds. */
    private static boolean isWanted(String name) {
        return name.endsWith(".java") && Stream.of("/builder/", "/text/", "/tuple/").anyMatch(name::contains)
                && !name.contains("-info");
    }

    @Override
    void iterate() throws Exception {
        complaints = 0;
        Checker checker = new Checker();
        checker.setModuleClassLoader(Checker.class.getClassLoader());
        checker.configure(configuration);
        checker.addListener(this);
        checker.process(files);
        checker.destroy();
        require(complaints > 1000, "only " + complaints + " complaints");
    }

    @Override
    public void addError(AuditEvent event) {
        complaints++;
        add(folder.relativize(Path.of(event.getFileName())) + ":" + event.getLine() + " " + event.getSourceName());
    }

    @Override
    public void addException(AuditEvent event, Throwable throwable) {
        throw new IllegalStateException(event.getFileName(), throwable);
    }

    @Override
    public void auditStarted(AuditEvent event) {}

    @Override
    public void auditFinished(AuditEvent event) {}

    @Override
    public void fileStarted(AuditEvent event) {}

    @Override
    public void fileFinished(AuditEvent event) {}
}
