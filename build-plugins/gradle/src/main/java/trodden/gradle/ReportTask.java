package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.OutputDirectory;
import trodden.build.Coverage;

/** Reports on the profiles of the tests' JVMs. */
public class ReportTask extends TroddenTask {
    private String module;
    private Provider<File> destination;

    /** Which formats. */
    @Input
    public List<String> getFormats() {
        return settings().formats;
    }

    /** The name that is in the reports. */
    @Input
    public String getModule() {
        return module;
    }

    void module(String module) {
        this.module = module;
    }

    /** Where the reports go. */
    @OutputDirectory
    public File getDestination() {
        return destination.get();
    }

    void destination(Provider<File> destination) {
        this.destination = destination;
    }

    @Override
    void work() throws IOException {
        Coverage coverage = coverage();
        if (coverage.report(getDestination().toPath(), settings().formats, sourcePaths(), module)) {
            say("Reports are in " + getDestination());
        } else {
            nothing(coverage, "report");
        }
    }
}
