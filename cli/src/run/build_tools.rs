//! Maven and Gradle under `trodden run`: what they start is profiled, not they themselves; and of that the
//! project's own classes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use trodden_profile::options::ProfileOptions;

use crate::output;

/// Folders that hold packages: of classes, and of sources, as nothing is compiled before a clean build.
const ROOTS: [&str; 8] = [
    "target/classes",
    "build/classes/java/main",
    "build/classes/kotlin/main",
    "build/classes/groovy/main",
    "build/classes/scala/main",
    "src/main/java",
    "src/main/kotlin",
    "src/main/scala",
];
/// Depth of folders down to which modules are searched in a project.
const MODULES: usize = 4;
/// Depth of folders down to which packages are searched in a folder of classes.
const PACKAGES: usize = 16;
/// Folders that hold no modules.
const NO_MODULES: [&str; 5] = ["src", "target", "build", "node_modules", "out"];

/// A build tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildTool {
    /// Maven, or its wrapper.
    Maven,
    /// Gradle, or its wrapper.
    Gradle,
}

impl BuildTool {
    /// The tool that a command of this name starts.
    pub fn from_name(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "mvn" | "mvnw" | "mvnd" => Some(BuildTool::Maven),
            "gradle" | "gradlew" => Some(BuildTool::Gradle),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            BuildTool::Maven => "Maven",
            BuildTool::Gradle => "Gradle",
        }
    }

    /// Main classes and jars of its own JVMs, and of the compilers that they start.
    fn own(self) -> &'static [&'static str] {
        match self {
            BuildTool::Maven => &[
                "org.codehaus.plexus.classworlds.launcher.Launcher",
                "org.apache.maven.wrapper.*",
                "*maven-wrapper.jar",
                "org.mvndaemon.*",
                "org.jetbrains.kotlin.*",
            ],
            BuildTool::Gradle => &[
                "org.gradle.*",
                "*gradle-wrapper.jar",
                "*gradle-launcher*.jar",
                "*gradle-daemon*.jar",
                "org.jetbrains.kotlin.*",
            ],
        }
    }

    /// Leaves the tool itself alone, and all but the project's own classes, unless the options say what is
    /// profiled; says which.
    pub fn prepare(self, options: &mut ProfileOptions, project: &Path) {
        let (mut said, mut hints) = (Vec::new(), Vec::new());
        if !options.is_given("skip-main") {
            options.code.skip_main = self.own().iter().map(|&pattern| pattern.to_owned()).collect();
            said.push(format!(
                "the JVMs that {0} starts, such as those of tests, not {0} itself",
                self.name()
            ));
            hints.push("--skip-main");
        }
        if !options.is_given("include") {
            let packages = packages(project);
            if !packages.is_empty() {
                let names: Vec<&str> = packages.iter().map(String::as_str).collect();
                said.push(format!("classes of {}", names.join(", ")));
                options.code.include = packages;
                hints.push("--include");
            }
        }
        if !said.is_empty() && !options.output.quiet {
            output::complain(&format!(
                "profiled: {} ({} to change that)",
                said.join("; "),
                hints.join(", ")
            ));
        }
    }

    /// Why there may be no profile of a build that went well.
    pub fn nothing_written(self) -> &'static str {
        match self {
            BuildTool::Maven => {
                "did it start a JVM? Tests that run inside of Maven's own, as with forkCount=0, are not seen; with \
                 --skip-main none Maven's own is profiled as well"
            }
            BuildTool::Gradle => {
                "did it start a JVM? Tests that are up to date are not run (--rerun-tasks runs them)"
            }
        }
    }
}

/// Patterns for the packages of a project and its modules: those that have classes or sources, without those
/// that are in another one.
fn packages(project: &Path) -> Vec<String> {
    let mut found = BTreeSet::new();
    modules(project, MODULES, &mut found);
    let mut least: Vec<String> = Vec::new();
    // Sorted: a package comes right in front of those inside of it.
    for package in found {
        let inside = |outer: &String| package == *outer || package.starts_with(&format!("{outer}."));
        if !least.iter().any(inside) {
            least.push(package);
        }
    }
    least.iter().map(|package| format!("{package}.*")).collect()
}

fn modules(folder: &Path, depth: usize, found: &mut BTreeSet<String>) {
    for root in ROOTS {
        collect(&folder.join(root), "", PACKAGES, found);
    }
    if depth > 0 {
        for (name, path) in folders(folder) {
            if !name.starts_with('.') && !NO_MODULES.contains(&name.as_str()) {
                modules(&path, depth - 1, found);
            }
        }
    }
}

/// The outermost packages below a folder that hold classes or sources.
fn collect(folder: &Path, package: &str, depth: usize, found: &mut BTreeSet<String>) {
    let is_code = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|e| ["class", "java", "kt", "scala", "groovy"].contains(&e))
    };
    let mut files = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    if !package.is_empty() && files.any(|path| is_code(&path)) {
        found.insert(package.to_owned());
        return;
    }
    if depth > 0 {
        for (name, path) in folders(folder) {
            let inner = match package {
                "" => name,
                outer => format!("{outer}.{name}"),
            };
            collect(&path, &inner, depth - 1, found);
        }
    }
}

/// Folders in a folder, but for links: these may lead in circles.
fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_the_packages_of_its_modules() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path();
        assert_eq!(packages(project), [] as [String; 0]);
        for file in [
            "app/src/main/java/com/acme/app/Main.java",
            "app/target/classes/com/acme/app/Main.class",
            "app/target/classes/com/acme/app/inner/Deep.class",
            "core/build/classes/kotlin/main/com/acme/core/Core.class",
            "core/src/test/java/com/acme/tests/CoreTest.java",
            "core/target/test-classes/com/acme/tests/CoreTest.class",
            "node_modules/x/src/main/java/no/No.java",
            "web/src/main/java/Unnamed.java",
        ] {
            let file = project.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        assert_eq!(packages(project), ["com.acme.app.*", "com.acme.core.*"]);
    }

    #[test]
    fn what_was_asked_for_stays() {
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("src/main/java/a");
        fs::create_dir_all(&main).unwrap();
        fs::write(main.join("A.java"), "").unwrap();
        let of = |pairs: &[(&str, &str)]| {
            let mut options = ProfileOptions::from_pairs(pairs).unwrap();
            BuildTool::Maven.prepare(&mut options, folder.path());
            (options.code.include, options.code.skip_main)
        };
        let (include, skipped) = of(&[]);
        assert_eq!(include, ["a.*"]);
        assert!(skipped.iter().any(|main| main.ends_with("launcher.Launcher")));
        let (include, skipped) = of(&[("include", "b.*"), ("skip-main", "none")]);
        assert_eq!(
            (include, skipped),
            (vec!["b.*".to_owned()], vec!["none".to_owned()])
        );
    }
}
