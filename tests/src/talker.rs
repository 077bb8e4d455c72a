//! A Java program of one file that talks with its test: it says a line when it is ready, continues when it
//! reads a line, and ends with its input.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::jdk::Jdk;
use crate::{Result, process};

/// Longest time for `javac`.
const LIMIT: Duration = Duration::from_secs(120);

/// The program, running. Dropped, it is killed.
pub struct Talker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Talker {
    /// Compiles a class's source, starts its `main` under a JVM that verifies all and can be attached to, and
    /// waits until it says `ready`.
    ///
    /// # Errors
    /// If it cannot be compiled, or says something else.
    pub fn start(jdk: &Jdk, class: &str, source: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = format!("{class}.java");
        fs::write(folder.path().join(&file), source)?;
        let mut javac = jdk.command("javac");
        process::run(javac.args(["-g", &file]).current_dir(folder.path()), LIMIT)?.success()?;
        let flags = ["-Xverify:all", "-Xcheck:jni", "-XX:+EnableDynamicAgentLoading"];
        let mut command = jdk.command("java");
        command.args(flags).args(["-cp", ".", class]);
        Self::launch(command, folder)
    }

    /// Starts a command in the program's folder, and waits until it says `ready`.
    ///
    /// # Errors
    /// If it cannot be started, or says something else.
    pub fn launch(mut command: Command, folder: tempfile::TempDir) -> Result<Self> {
        let mut child = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut talker = Talker {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().ok_or("no stdout")?),
            child,
            folder,
        };
        talker.says("ready")?;
        Ok(talker)
    }

    /// The next line it says must be this one.
    ///
    /// # Errors
    /// If it is another one.
    pub fn says(&mut self, wanted: &str) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.trim() == wanted {
            Ok(())
        } else {
            Err(format!("the program said {line:?}, not {wanted:?}").into())
        }
    }

    /// Lets it continue.
    ///
    /// # Errors
    /// If it does not listen any more.
    pub fn go_on(&mut self) -> Result<()> {
        let input = self.input.as_mut().ok_or("its input is closed")?;
        input.write_all(b"\n")?;
        Ok(input.flush()?)
    }

    /// The end of its input.
    pub fn close(&mut self) {
        drop(self.input.take());
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// If it does not end well.
    pub fn ends(&mut self) -> Result<()> {
        match self.child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("it ended with {status}").into()),
        }
    }

    /// Its process's number.
    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// A file in its folder.
    pub fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
