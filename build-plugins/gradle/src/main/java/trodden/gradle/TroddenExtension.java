package trodden.gradle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trodden.build.Coverage;

/** The settings of {@code trodden { … }} in a build script. */
public class TroddenExtension {
    private boolean skip;
    private String program;
    private String library;
    private boolean tests = true;
    private List<String> includes = new ArrayList<>();
    private List<String> excludes = new ArrayList<>();
    private List<String> formats = new ArrayList<>(Coverage.DEFAULT_FORMATS);
    private List<String> rules = new ArrayList<>();
    private boolean haltOnFailure = true;
    private boolean failOnNoProfile;
    private Map<String, String> options = new LinkedHashMap<>();

    /** True to do nothing. The property trodden.skip (-Ptrodden.skip or -Dtrodden.skip) says this, too. */
    public boolean isSkip() {
        return skip;
    }

    public void setSkip(boolean skip) {
        this.skip = skip;
    }

    /** The program trodden; else that of the variable TRODDEN, else the one that came with this plugin. */
    public String getProgram() {
        return program;
    }

    public void setProgram(String program) {
        this.program = program;
    }

    /** The agent, libtrodden.so; else that of the variable TRODDEN_AGENT, else next to the program. */
    public String getLibrary() {
        return library;
    }

    public void setLibrary(String library) {
        this.library = library;
    }

    /** True if the tasks of type Test take the agent. */
    public boolean isTests() {
        return tests;
    }

    public void setTests(boolean tests) {
        this.tests = tests;
    }

    /** Classes, or Class#method, to profile (wildcards * and ?); all but the JDK's if there is none. */
    public List<String> getIncludes() {
        return includes;
    }

    public void setIncludes(List<String> includes) {
        this.includes = new ArrayList<>(includes);
    }

    /** Classes, or Class#method, to leave alone. */
    public List<String> getExcludes() {
        return excludes;
    }

    public void setExcludes(List<String> excludes) {
        this.excludes = new ArrayList<>(excludes);
    }

    /** The formats that troddenReport writes: html, text, json, coverage, coverage-json, lcov, jacoco. */
    public List<String> getFormats() {
        return formats;
    }

    public void setFormats(List<String> formats) {
        this.formats = new ArrayList<>(formats);
    }

    /** Rules of troddenCheck, as `trodden check` reads them. */
    public List<String> getRules() {
        return rules;
    }

    public void setRules(List<String> rules) {
        this.rules = new ArrayList<>(rules);
    }

    /** Adds a rule. */
    public void rule(String... more) {
        rules.addAll(Arrays.asList(more));
    }

    /** True if troddenCheck fails if a rule is broken or cannot be checked. Else it only warns. */
    public boolean isHaltOnFailure() {
        return haltOnFailure;
    }

    public void setHaltOnFailure(boolean haltOnFailure) {
        this.haltOnFailure = haltOnFailure;
    }

    /** True if troddenReport and troddenCheck fail if tests ran and left no profile. Else they only warn. */
    public boolean isFailOnNoProfile() {
        return failOnNoProfile;
    }

    public void setFailOnNoProfile(boolean failOnNoProfile) {
        this.failOnNoProfile = failOnNoProfile;
    }

    /** Further profile options, by name. */
    public Map<String, String> getOptions() {
        return options;
    }

    public void setOptions(Map<String, String> options) {
        this.options = new LinkedHashMap<>(options);
    }

    /** The values that there are now. */
    Settings settings() {
        Settings now = new Settings();
        now.skip = skip;
        now.agent = tests;
        now.program = program;
        now.library = library;
        now.includes = new ArrayList<>(includes);
        now.excludes = new ArrayList<>(excludes);
        now.formats = new ArrayList<>(formats);
        now.rules = new ArrayList<>(rules);
        now.haltOnFailure = haltOnFailure;
        now.failOnNoProfile = failOnNoProfile;
        // A map of a Groovy script may hold strings that are not finished.
        now.options = new LinkedHashMap<>();
        options.forEach((key, value) -> now.options.put(String.valueOf((Object) key), String.valueOf((Object) value)));
        return now;
    }
}
