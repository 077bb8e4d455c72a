//! `trodden.PathFeedback`: a program that knows its paths and checks what is said of them, with probes from
//! the agent, with probes that were put in ahead, and without any.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, ahead, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The class of the runtime jar, compiled as that is: without anything else.
fn runtime(folder: &Path) -> Result<PathBuf> {
    let source = Path::new(build::ROOT).join("../java-shim/ahead/trodden/PathFeedback.java");
    let out = folder.join("runtime");
    build::javac(&Jdk::oldest()?, ".", &[source], &out)?;
    Ok(out)
}

struct Program {
    folder: tempfile::TempDir,
    runtime: PathBuf,
    classes: PathBuf,
    jdk: Jdk,
}

impl Program {
    fn compiled(jdk: Jdk) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let runtime = runtime(folder.path())?;
        let source = Path::new(build::ROOT).join("feedback/Feedback.java");
        let classes = folder.path().join("classes");
        build::javac(&jdk, &runtime.to_string_lossy(), &[source], &classes)?;
        Ok(Program {
            folder,
            runtime,
            classes,
            jdk,
        })
    }

    /// The program's output at its end: it ends with an exception if anything is wrong.
    fn says(&self, classes: &Path, flags: &[String], arguments: &[&str]) -> Result<String> {
        let mut java = self.jdk.command("java");
        java.env_remove("JAVA_TOOL_OPTIONS")
            .args(["-Xverify:all", "-Xcheck:jni"])
            .args(flags)
            .arg("-cp")
            .arg(format!("{}:{}", classes.display(), self.runtime.display()))
            .arg("Feedback")
            .args(arguments);
        Ok(process::run(&mut java, LIMIT)?.success()?.stdout)
    }

    fn agent(&self, options: &str) -> Result<Vec<String>> {
        Ok(vec![format!(
            "-agentpath:{}=start,{options},quiet=true,file={}",
            artefacts::artefacts()?.agent.display(),
            self.folder.path().join("out.trodden").display()
        )])
    }
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: an interpreted run")]
fn each_path_has_its_bit() -> Result<()> {
    for jdk in Jdk::ends()? {
        let program = Program::compiled(jdk)?;
        let right = |flags: &[String], arguments: &[&str]| -> Result<()> {
            let said = program.says(&program.classes, flags, arguments)?;
            assert!(said.starts_with("right: 60"), "{said}");
            Ok(())
        };
        let work = "include=Feedback*Work";
        right(&program.agent(&format!("probe=counters,{work}"))?, &[])?;
        right(
            &program.agent(&format!("profile=coverage,coverage=paths,{work}"))?,
            &["cuts"],
        )?;
        let mut interpreted = program.agent(&format!("probe=counters,{work}"))?;
        interpreted.push("-Xint".to_owned());
        right(&interpreted, &[])?;
    }
    Ok(())
}

#[test]
fn code_that_was_instrumented_ahead_tells_too() -> Result<()> {
    for jdk in Jdk::ends()? {
        let program = Program::compiled(jdk)?;
        let probed = program.folder.path().join("ahead");
        let options = ["--probe", "counters", "--include", "Feedback$Work"];
        ahead::instrument_with(&program.classes, &options, &probed)?;
        // Without the library its probes do nothing.
        assert_eq!(program.says(&probed, &[], &["off"])?, "off\n");
        let flags = ahead::library(&program.jdk, &program.folder.path().join("ahead.trodden"))?;
        let said = program.says(&probed, &flags, &[])?;
        assert!(said.starts_with("right: 60"), "{said}");
    }
    Ok(())
}

#[test]
fn what_is_not_counted_is_not_known() -> Result<()> {
    let program = Program::compiled(Jdk::oldest()?)?;
    assert_eq!(program.says(&program.classes, &[], &["off"])?, "off\n");
    for options in [
        "probe=yieldpoint",
        "probe=auto",
        "profile=coverage",
        "profile=contexts,burst=off",
    ] {
        let flags = program.agent(options)?;
        assert_eq!(
            program.says(&program.classes, &flags, &["off"])?,
            "off\n",
            "{options}"
        );
    }
    // Nor is what is asked for part of it: the class that asks takes no probes.
    let flags = program.agent("probe=counters,include=Feedback*Work+trodden.*")?;
    assert!(
        program
            .says(&program.classes, &flags, &[])?
            .starts_with("right: 60")
    );
    Ok(())
}
