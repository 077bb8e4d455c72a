package trodden.gradle;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.OutputDirectory;
import trodden.build.Coverage;

/** Reports on the profiles of the tests' JVMs. */
public class ReportTask extends TroddenTask {
    private List<String> formats;
    private String module;
    private File destination;

    public ReportTask() {
        // New profiles are a reason too, and they are found only when it works.
        getOutputs().upToDateWhen(task -> false);
    }

    /** Which formats. */
    @Input
    public List<String> getFormats() {
        return formats;
    }

    void setFormats(List<String> formats) {
        this.formats = formats;
    }

    void setModule(String module) {
        this.module = module;
    }

    /** Where the reports go. */
    @OutputDirectory
    public File getDestination() {
        return destination;
    }

    void setDestination(File destination) {
        this.destination = destination;
    }

    @Override
    void work() throws IOException {
        Coverage coverage = coverage();
        if (coverage.report(destination.toPath(), formats, sourcePaths(), module)) {
            say("Reports are in " + destination);
        } else {
            nothing(coverage, "report");
        }
    }
}
