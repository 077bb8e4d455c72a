//! The plugin for Gradle.

use std::path::Path;

use trodden_tests::Result;
use trodden_tests::process;

use super::{Project, said};

const SETTINGS: &str = "pluginManagement { repositories { maven { url 'REPOSITORY' } } }
include 'lib', 'app'
";

/// Gradle 4 takes no plugin from a repository by its id but by `pluginManagement`; the root has no Java.
const ROOT: &str = "plugins { id 'GROUP.paths' version '0.1.0' }
subprojects {
    apply plugin: 'java'
    apply plugin: 'GROUP.paths'
    repositories { mavenCentral() }
    dependencies { testImplementation 'junit:junit:4.13.2' }
    trodden { includes = ['acme.*'] }
}
trodden {
    includes = ['acme.*']
    rule 'missed lines <= 2'
}
";

const SIGN: &str = "package acme;

public class NAME {
    public static int sign(int number) {
        if (number < 0) {
            return -1;
        }
        return 1;
    }
}
";

const TEST: &str = "package acme;

public class NAMETest {
    @org.junit.Test
    public void positive() {
        org.junit.Assert.assertEquals(1, NAME.sign(3));
    }
}
";

#[test]
#[cfg_attr(feature = "change", ignore = "all: the sample stays")]
fn a_root_without_java_is_checked_and_unknown_options_are_refused() -> Result<()> {
    if !process::is_there("gradle") {
        return Ok(());
    }
    let named = |text: &str, name: &str| text.replace("NAME", name);
    let project = Project::new(&[
        ("settings.gradle", SETTINGS),
        ("build.gradle", ROOT),
        ("lib/src/main/java/acme/Lib.java", &named(SIGN, "Lib")),
        ("lib/src/test/java/acme/LibTest.java", &named(TEST, "Lib")),
        ("app/src/main/java/acme/App.java", &named(SIGN, "App")),
        ("app/src/test/java/acme/AppTest.java", &named(TEST, "App")),
    ])?;
    let gradle = |arguments: &[&str]| {
        let arguments = [&["--no-daemon", "--console=plain"], arguments].concat();
        project.run(Path::new("gradle"), &arguments)
    };
    // Of each class its first line and one other are missed.
    let broken = gradle(&["test", "troddenAggregateCheck"])?;
    assert!(!broken.status.success());
    for text in ["BROKEN  missed lines <= 2", "all: 4 of 8 lines (50.0 %)"] {
        assert!(said(&broken).contains(text), "{}", said(&broken));
    }
    project.edit("build.gradle", "missed lines <= 2", "missed lines <= 4")?;
    gradle(&["test", "troddenAggregateCheck"])?.success()?;

    project.edit(
        "build.gradle",
        "    trodden { includes = ['acme.*'] }",
        "    trodden { includes = ['acme.*']; options = [prob: 'counters'] }",
    )?;
    let wrong = gradle(&["test"])?;
    assert!(!wrong.status.success());
    let reason = "the agent does not take these options: unknown option 'prob'";
    assert!(said(&wrong).contains(reason), "{}", said(&wrong));
    Ok(())
}
