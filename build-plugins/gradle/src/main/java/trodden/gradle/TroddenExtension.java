package trodden.gradle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import trodden.build.Coverage;

/** The settings of {@code trodden { … }} in a build script. */
public class TroddenExtension extends Selection {
    private boolean skip;
    private String program;
    private String library;
    private boolean tests = true;
    private List<String> formats = new ArrayList<>(Coverage.DEFAULT_FORMATS);
    private List<String> rules = new ArrayList<>();
    private boolean haltOnFailure = true;
    private boolean failOnNoProfile;

    /** With lists that a script can add to. */
    public TroddenExtension() {
        setIncludes(new ArrayList<>());
        setExcludes(new ArrayList<>());
    }

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

    /** The values that there are now. */
    Settings settings() {
        Settings now = new Settings();
        now.skip = skip;
        now.agent = tests;
        now.program = program;
        now.library = library;
        now.formats = new ArrayList<>(formats);
        now.rules = new ArrayList<>(rules);
        now.haltOnFailure = haltOnFailure;
        now.failOnNoProfile = failOnNoProfile;
        putOver(now);
        return now;
    }
}
