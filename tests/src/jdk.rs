//! The JDKs of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::Result;

/// An installed JDK.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Jdk {
    /// Feature version: 17, 25, …
    pub feature: u32,
    /// Its home.
    pub home: PathBuf,
}

impl Jdk {
    /// The JDK of a home, if there is one.
    pub fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok()?;
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release.lines().find_map(|l| l.strip_prefix("JAVA_VERSION="))?;
        let feature = version
            .trim_matches('"')
            .split(['.', '-', '+'])
            .next()?
            .parse()
            .ok()?;
        (home.join("bin/javac").exists()).then_some(Jdk { feature, home })
    }

    /// All JDKs from 17 on, oldest first: those of `TRODDEN_TEST_JDKS` (homes, separated by colons) if it is
    /// set; else `JAVA_HOME`, the one of `javac` on the path, and those in /usr/lib/jvm.
    ///
    /// # Errors
    /// If there is none.
    pub fn all() -> Result<Vec<Jdk>> {
        let mut homes: Vec<PathBuf> = Vec::new();
        if let Ok(list) = std::env::var("TRODDEN_TEST_JDKS") {
            homes.extend(std::env::split_paths(&list));
        } else {
            homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
            let path = std::env::var_os("PATH").unwrap_or_default();
            let javac = std::env::split_paths(&path).map(|p| p.join("javac"));
            let real = javac.filter_map(|p| p.canonicalize().ok());
            homes.extend(real.filter_map(|p| Some(p.parent()?.parent()?.to_owned())));
            let scanned = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
            homes.extend(scanned.map(|entry| entry.path()));
        }
        let mut found: Vec<Jdk> = homes.iter().filter_map(|home| Jdk::at(home)).collect();
        found.retain(|jdk| jdk.feature >= 17);
        found.sort();
        found.dedup();
        if found.is_empty() {
            return Err("no JDK from 17 on found (set TRODDEN_TEST_JDKS or JAVA_HOME)".into());
        }
        Ok(found)
    }

    /// The oldest of [`Jdk::all`].
    ///
    /// # Errors
    /// If there is none.
    pub fn oldest() -> Result<Jdk> {
        Ok(Self::all()?.swap_remove(0))
    }

    /// The newest of [`Jdk::all`].
    ///
    /// # Errors
    /// If there is none.
    pub fn newest() -> Result<Jdk> {
        Self::all()?.pop().ok_or_else(|| "no JDK".into())
    }

    /// The oldest and the newest of [`Jdk::all`]; one if there is only one.
    ///
    /// # Errors
    /// If there is none.
    pub fn both() -> Result<Vec<Jdk>> {
        let mut both = vec![Self::oldest()?, Self::newest()?];
        both.dedup();
        Ok(both)
    }

    /// The JDKs of a test that runs on more than one: [`Jdk::both`], or the newest alone with the feature
    /// `change`.
    ///
    /// # Errors
    /// If there is none.
    pub fn ends() -> Result<Vec<Jdk>> {
        if cfg!(feature = "change") {
            Ok(vec![Self::newest()?])
        } else {
            Self::both()
        }
    }

    /// A test on [`Jdk::ends`] at the same time: for programs of one busy thread each, that run for a given
    /// time.
    ///
    /// # Errors
    /// That of the first that fails.
    pub fn at_both_ends(test: impl Fn(&Jdk) -> Result<()> + Sync) -> Result<()> {
        let ends = Self::ends()?;
        thread::scope(|scope| {
            let tests: Vec<_> = ends.iter().map(|jdk| scope.spawn(|| test(jdk))).collect();
            let mut results = tests.into_iter().map(|one| one.join());
            let panicked = |_| Err("an assertion does not hold (see above)".into());
            results.try_for_each(|result| result.unwrap_or_else(panicked))
        })
    }

    /// A command of this JDK: `java`, `javac`, …, free of options from the environment.
    pub fn command(&self, tool: &str) -> Command {
        let mut command = Command::new(self.home.join("bin").join(tool));
        for variable in [
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "_JAVA_OPTIONS",
            "CLASSPATH",
        ] {
            command.env_remove(variable);
        }
        command.env("JAVA_HOME", &self.home);
        if tool == "javac" {
            // It ends before C2 is worth its time: a third less.
            command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
        }
        command
    }
}
