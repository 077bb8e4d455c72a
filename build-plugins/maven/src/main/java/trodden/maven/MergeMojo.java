package trodden.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import trodden.build.Coverage;

/** Merges profiles into one file. */
@Mojo(name = "merge", defaultPhase = LifecyclePhase.GENERATE_RESOURCES, threadSafe = true)
public final class MergeMojo extends TroddenMojo {
    /** Which profiles: fileSets with a directory, includes and excludes (all *.trodden if none). Default: those of this module's tests. */
    @Parameter
    private List<FileSet> fileSets = List.of();

    /** The file that they are merged into. */
    @Parameter(property = "trodden.destFile", defaultValue = "${project.build.directory}/trodden.trodden")
    private File destFile;

    @Override
    void work() throws IOException {
        Path out = destFile.toPath().toAbsolutePath();
        Set<Path> profiles = new TreeSet<>();
        if (fileSets.isEmpty()) {
            profiles.addAll(Coverage.profiles(List.of(data(), integration())));
        }
        for (FileSet set : fileSets) {
            profiles.addAll(set.files());
        }
        profiles.remove(out);
        if (profiles.isEmpty()) {
            getLog().info("Skipping Trodden's merge: there are no profiles");
            return;
        }
        Coverage.merge(tools(), getLog()::info, profiles, out);
        getLog().info(profiles.size() + " profiles are merged into " + out);
    }

    /** Files below a folder, by patterns in Ant's manner. */
    public static final class FileSet {
        /** The folder. */
        @Parameter(required = true)
        private File directory;

        /** Which files. */
        @Parameter
        private List<String> includes = new ArrayList<>();

        /** Which of these not. */
        @Parameter
        private List<String> excludes = new ArrayList<>();

        Set<Path> files() throws IOException {
            List<String> wanted = includes.isEmpty() ? List.of("**/*.trodden") : includes;
            Path folder = directory.toPath().toAbsolutePath();
            if (!Files.isDirectory(folder)) {
                return Set.of();
            }
            try (Stream<Path> all = Files.walk(folder)) {
                return all.filter(Files::isRegularFile).filter(file -> {
                    String name = folder.relativize(file).toString().replace(File.separatorChar, '/');
                    return wanted.stream().anyMatch(pattern -> name.matches(expression(pattern)))
                            && excludes.stream().noneMatch(pattern -> name.matches(expression(pattern)));
                }).collect(Collectors.toCollection(TreeSet::new));
            }
        }

        /** Ant's pattern as a regular expression: ** is any folders, * and ? for what is in a name. */
        private static String expression(String pattern) {
            String ant = pattern.endsWith("/") ? pattern + "**" : pattern;
            StringBuilder text = new StringBuilder();
            for (int at = 0; at < ant.length(); at++) {
                if (ant.startsWith("**/", at)) {
                    text.append("(?:.*/)?");
                    at += 2;
                } else if (ant.startsWith("**", at)) {
                    text.append(".*");
                    at++;
                } else if (ant.charAt(at) == '*') {
                    text.append("[^/]*");
                } else if (ant.charAt(at) == '?') {
                    text.append("[^/]");
                } else {
                    text.append(java.util.regex.Pattern.quote(String.valueOf(ant.charAt(at))));
                }
            }
            return text.toString();
        }
    }
}
