//! Where things are: the benchmark folder, JDKs, the agent.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::artifacts::{self, Artifact};
use crate::error::{Error, Result, io};

/// The repository's `benchmarks-java` folder.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The folder given, or the first `benchmarks-java` at or above the current folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(given: Option<&Path>) -> Result<Workspace> {
        let here = std::env::current_dir().map_err(io("find", "the current folder"))?;
        let candidates: Vec<PathBuf> = match given {
            Some(folder) => vec![here.join(folder)],
            None => here
                .ancestors()
                .flat_map(|f| [f.join("benchmarks-java"), f.to_owned()])
                .collect(),
        };
        candidates
            .into_iter()
            .find(|f| f.join("artifacts.txt").is_file() && f.join("kernels").is_dir())
            .map(|root| Workspace { root })
            .ok_or_else(|| {
                Error::Usage("no benchmarks-java folder here; run inside the repository or use --root".into())
            })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The repository.
    pub fn repository(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// Fetched files, a folder per set.
    pub fn apps(&self) -> PathBuf {
        self.root.join("apps")
    }

    /// Compiled Java programs.
    pub fn build(&self) -> PathBuf {
        self.root.join("build")
    }

    /// Results.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// The committed list of what is fetched.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn artifacts(&self) -> Result<Vec<Artifact>> {
        let path = self.root.join("artifacts.txt");
        artifacts::parse(&std::fs::read_to_string(&path).map_err(io("read", &path))?)
    }

    /// Where a fetched file is.
    pub fn artifact(&self, artifact: &Artifact) -> PathBuf {
        self.apps().join(&artifact.set).join(artifact.file_name())
    }

    /// The files of a set, all fetched.
    ///
    /// # Errors
    /// If one is missing.
    pub fn set(&self, set: &str) -> Result<Vec<PathBuf>> {
        let paths: Vec<PathBuf> = self
            .artifacts()?
            .iter()
            .filter(|a| a.set == set)
            .map(|a| self.artifact(a))
            .collect();
        match paths.iter().find(|p| !p.is_file()) {
            Some(missing) => Err(Error::Usage(format!(
                "{} is not there; run 'trodden-bench fetch {set}'",
                missing.display()
            ))),
            None => Ok(paths),
        }
    }
}

/// A JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    /// Its home.
    pub home: PathBuf,
    /// `java.version`, such as 17.0.15.
    pub version: String,
    /// All that `java -version` says.
    pub full_version: String,
}

impl Jdk {
    /// Its feature release, such as 17.
    pub fn feature(&self) -> Option<u32> {
        self.version.split(['.', '-', '+']).next()?.parse().ok()
    }

    /// The JDKs of these homes; if none are given, that of `JAVA_HOME` or of `java` on the PATH.
    ///
    /// # Errors
    /// If one is no JDK.
    pub fn find(homes: &[PathBuf]) -> Result<Vec<Jdk>> {
        if !homes.is_empty() {
            return homes.iter().map(|home| Jdk::at(home)).collect();
        }
        if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
            return Ok(vec![Jdk::at(Path::new(&home))?]);
        }
        let settings = Command::new("java")
            .args(["-XshowSettings:properties", "-version"])
            .output()
            .map_err(io("start", "java"))?;
        let text = String::from_utf8_lossy(&settings.stderr).into_owned();
        let home = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("java.home = "));
        match home {
            Some(home) => Ok(vec![Jdk::at(Path::new(home))?]),
            None => Err(Error::Usage("'java' does not report its home; use --jdk".into())),
        }
    }

    fn at(home: &Path) -> Result<Jdk> {
        let java = home.join("bin/java");
        let output = Command::new(&java)
            .arg("-version")
            .output()
            .map_err(io("start", &java))?;
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let version = text.split('"').nth(1).ok_or_else(|| Error::Program {
            program: "java -version".to_owned(),
            problem: text.clone(),
        })?;
        Ok(Jdk {
            home: home.to_owned(),
            version: version.to_owned(),
            full_version: text.clone(),
        })
    }

    /// The launcher.
    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The compiler.
    pub fn javac(&self) -> PathBuf {
        self.home.join("bin/javac")
    }
}

/// The agent library: the one given, else the release build of this repository.
///
/// # Errors
/// If it is not there.
pub fn find_agent(workspace: &Workspace, given: Option<&Path>) -> Result<PathBuf> {
    built(workspace, given, "libtrodden.so", "trodden-agent", "--agent")
}

/// The `trodden` command: the one given, else the release build of this repository.
///
/// # Errors
/// If it is not there.
pub fn find_trodden(workspace: &Workspace, given: Option<&Path>) -> Result<PathBuf> {
    built(workspace, given, "trodden", "trodden", "--trodden")
}

fn built(
    workspace: &Workspace,
    given: Option<&Path>,
    file: &str,
    package: &str,
    option: &str,
) -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.repository().join("target"), PathBuf::from);
    let path = given.map_or_else(|| target.join("release").join(file), Path::to_owned);
    path.canonicalize().map_err(|_| {
        Error::Usage(format!(
            "nothing at {}; build it with 'cargo build --release -p {package}' or use {option}",
            path.display()
        ))
    })
}
