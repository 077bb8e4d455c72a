//! The programs that are run with and without the agent.
//!
//! A target is one source file. Its classes' names begin with the file's name; comments `// target KEY=VALUE`
//! at the start of a line say how to run it: `jdk=N` (needs that JDK or a newer one), `oracle=off REASON`,
//! `calls=CLASS METHOD:FROM:TO …` (generated classes: what `generate/Driver.java` shall call),
//! `uncounted=METHOD,…` (their counts depend on the size of frames, so they are compared with nothing),
//! `unsteady=METHOD,…` (so do only their cut paths).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::jdk::Jdk;
use crate::{Result, build, process};

/// How a target is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `targets/*.java`.
    Java,
    /// `generate/*.java`: a program that writes class files.
    Generated,
    /// `polyglot/*.kt`.
    Kotlin,
    /// `polyglot/*.scala`.
    Scala,
}

/// A target.
#[derive(Clone, Debug)]
pub struct Target {
    /// The file's name without its ending; all its classes' names begin so.
    pub name: String,
    /// How it is compiled.
    pub language: Language,
    /// Its source file.
    pub source: PathBuf,
    /// The source's text.
    pub text: String,
    /// Oldest JDK it runs on.
    pub jdk: u32,
    /// True if it is compared with the oracle.
    pub oracle: bool,
    /// Names of methods whose counts differ from run to run.
    pub uncounted: Vec<String>,
    /// Names of methods that are cut off at different places from run to run.
    pub unsteady: Vec<String>,
    calls: Vec<String>,
}

/// A trial by this name.
pub fn trial(name: String, judge: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, || judge().map_err(|e| Failed::from(e.to_string())))
}

/// The trials, of which the tests of a change have those of three targets.
pub fn some_in_changes(trials: Vec<Trial>) -> impl Iterator<Item = Trial> {
    trials.into_iter().map(|trial| {
        let stays = ["::Exceptions/", "::Loops/", "::Modern/"];
        if stays.iter().any(|name| trial.name().contains(name)) {
            trial
        } else {
            left_out_of_changes(trial, "three targets stay")
        }
    })
}

/// The trial, which the tests of a change leave out for this reason: it is listed with it, and not run.
pub fn left_out_of_changes(trial: Trial, reason: &str) -> Trial {
    if cfg!(feature = "change") {
        trial.with_kind(format!("all: {reason}")).with_ignored_flag(true)
    } else {
        trial
    }
}

impl Target {
    /// All targets.
    ///
    /// # Errors
    /// If a source cannot be read, or a `// target` comment is wrong.
    pub fn all() -> Result<Vec<Target>> {
        let mut all = Vec::new();
        for (folder, extension, language) in [
            ("targets", "java", Language::Java),
            ("generate", "java", Language::Generated),
            ("polyglot", "kt", Language::Kotlin),
            ("polyglot", "scala", Language::Scala),
        ] {
            for source in build::sources(folder, extension)? {
                let name = source
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                if language != Language::Generated || !["Gen", "Driver"].contains(&name.as_str()) {
                    all.push(Target::read(name, language, source)?);
                }
            }
        }
        Ok(all)
    }

    /// A trial of each target on each of these JDKs, by the name `MODULE::TARGET/jdkN`. One for which
    /// `ignored` holds, or whose JDK is too old, is listed and not run.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub fn trials(
        module: &str,
        jdks: &[Jdk],
        ignored: fn(&Target) -> bool,
        judge: fn(&Target, &Jdk) -> Result<()>,
    ) -> Result<Vec<Trial>> {
        let mut trials = Vec::new();
        for target in Target::all()? {
            for jdk in jdks.iter().cloned() {
                let name = format!("{module}::{}/jdk{}", target.name, jdk.feature);
                let ignored = jdk.feature < target.jdk || ignored(&target);
                let target = target.clone();
                trials.push(trial(name, move || judge(&target, &jdk)).with_ignored_flag(ignored));
            }
        }
        Ok(trials)
    }

    fn read(name: String, language: Language, source: PathBuf) -> Result<Target> {
        let text = std::fs::read_to_string(&source)?;
        let mut target = Target {
            name,
            language,
            source,
            jdk: 17,
            oracle: true,
            uncounted: Vec::new(),
            unsteady: Vec::new(),
            calls: Vec::new(),
            text: String::new(),
        };
        for line in text.lines() {
            let Some(directive) = line.strip_prefix("// target ") else {
                continue;
            };
            match directive.split_once('=') {
                Some(("jdk", version)) => target.jdk = version.parse()?,
                Some(("oracle", why)) if why.starts_with("off ") => target.oracle = false,
                Some(("uncounted", names)) => target.uncounted.extend(names.split(',').map(str::to_owned)),
                Some(("unsteady", names)) => target.unsteady.extend(names.split(',').map(str::to_owned)),
                Some(("calls", calls)) => target.calls.extend(calls.split(' ').map(str::to_owned)),
                _ => return Err(format!("{}: // target {directive}?", target.name).into()),
            }
        }
        target.text = text;
        Ok(target)
    }

    /// Compiles the target (or finds it compiled); its class path.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile(&self) -> Result<String> {
        let all = Jdk::all()?;
        let jdk = all
            .iter()
            .find(|jdk| jdk.feature >= self.jdk)
            .ok_or("no JDK is new enough")?;
        let own = std::slice::from_ref(&self.source);
        let version = jdk.feature.to_string();
        let words = [version.as_str()];
        if self.language == Language::Java {
            let out = build::cached(&self.name, own, &words, |out| build::javac(jdk, ".", own, out))?;
            return Ok(out.display().to_string());
        }
        let jars = build::jars()?;
        let class_path = build::all_jars(&jars);
        if self.language == Language::Generated {
            let support = |name: &str| Path::new(build::ROOT).join("generate").join(name);
            let files = [self.source.clone(), support("Gen.java"), support("Driver.java")];
            let out = build::cached(&self.name, &files, &words, |out| {
                let generator = tempfile::tempdir()?;
                build::javac(jdk, &class_path, &files[..2], generator.path())?;
                build::javac(jdk, &class_path, &files[2..], out)?;
                let mut java = jdk.command("java");
                java.arg("-cp")
                    .arg(format!("{}:{class_path}", generator.path().display()));
                java.arg(format!("{}Generator", self.name)).arg(out);
                process::run(&mut java, Duration::from_secs(60))?.success()?;
                Ok(())
            })?;
            return Ok(out.display().to_string());
        }
        if self.language == Language::Kotlin {
            let out = build::cached(&self.name, own, &words, |out| {
                build::kotlinc(jdk, &jars, &[], &self.source, out)
            })?;
            return Ok(format!(
                "{}:{}",
                out.display(),
                build::kotlin_library()?.display()
            ));
        }
        let library = build::jar_named("scala-library-")?;
        let out = build::cached(&self.name, own, &words, |out| {
            let mut compiler = jdk.command("java");
            compiler.arg("-cp").arg(&class_path).arg("scala.tools.nsc.Main");
            compiler.args(["-usejavacp", "-nowarn", "-release", "17", "-d"]);
            compiler.arg(out).arg(&self.source);
            process::run(&mut compiler, Duration::from_secs(300))?.success()?;
            Ok(())
        })?;
        Ok(format!("{}:{}", out.display(), library.display()))
    }

    /// The folder of its classes.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn classes(&self) -> Result<PathBuf> {
        let class_path = self.compile()?;
        Ok(PathBuf::from(class_path.split(':').next().unwrap_or_default()))
    }

    /// A command that runs the target on a JDK with these flags for the JVM.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn command(&self, jdk: &Jdk, flags: &[String]) -> Result<Command> {
        self.command_by(jdk, flags, None)
    }

    /// The same by `steps/Later.java`, which says `ready` and begins when it reads a line.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn later(&self, jdk: &Jdk, flags: &[String]) -> Result<Command> {
        let source = [Path::new(build::ROOT).join("steps/Later.java")];
        let oldest = &Jdk::oldest()?;
        let folder = build::cached("Later", &source, &[], |out| {
            build::javac(oldest, ".", &source, out)
        })?;
        self.command_by(jdk, flags, Some(&folder))
    }

    fn command_by(&self, jdk: &Jdk, flags: &[String], later: Option<&Path>) -> Result<Command> {
        let mut class_path = self.compile()?;
        if let Some(later) = later {
            class_path = format!("{class_path}:{}", later.display());
        }
        let mut java = jdk.command("java");
        // Nothing that is printed may depend on the moment: one small heap, no CDS messages.
        java.args(["-Xmx512m", "-Xss1m", "-XX:+UseSerialGC"]).args(flags);
        java.arg("-cp").arg(class_path).args(later.map(|_| "Later"));
        match self.language {
            Language::Java | Language::Scala => java.arg(&self.name),
            Language::Kotlin => java.arg(format!("{}Kt", self.name)),
            Language::Generated => java.arg("Driver").args(&self.calls),
        };
        Ok(java)
    }
}
