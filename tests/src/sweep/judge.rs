//! Asking HotSpot's verifier: a JVM that stays up for a whole corpus (`verifier/Verify.java`).

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::Container;
use crate::jdk::Jdk;
use crate::{Result, build};

/// The verdicts of HotSpot on the classes of a container.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// Accepted classes.
    pub accepted: usize,
    /// Refused: entry and message.
    pub rejected: Vec<(String, String)>,
    /// Refused, but so is the original class: entry and message.
    pub original: Vec<(String, String)>,
}

/// A JVM that verifies.
#[derive(Debug)]
pub struct Judge {
    jdk: Jdk,
    jars: Vec<PathBuf>,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Judge {
    /// Starts one on a JDK, with a corpus of jars.
    ///
    /// # Errors
    /// If the JVM cannot be started.
    pub fn start(jdk: &Jdk, jars: &[PathBuf]) -> Result<Judge> {
        let agent = build::verifier_jar()?;
        let mut java = jdk.command("java");
        java.args([
            "-Xverify:all",
            "--add-modules",
            "ALL-SYSTEM",
            "-Xmx2g",
            "-XX:+UseSerialGC",
            // Its warnings (JDK 25 has one for redefined JFR events, whatever their bytes) are not verdicts.
            "-Xlog:disable",
            "-Xlog:all=warning:stderr",
        ]);
        java.arg(format!("-javaagent:{}", agent.display()));
        java.arg("-cp").arg(&agent).arg("Verify").args(jars);
        let mut child = java
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Judge {
            jdk: jdk.clone(),
            jars: jars.to_vec(),
            child,
            input,
            output,
        })
    }

    /// Shows rewritten classes (entry, bytes) of a container to the verifier. If the JVM dies of it, that is
    /// a rejection, and another one is started.
    ///
    /// # Errors
    /// If the classes cannot be handed over.
    pub fn verify(
        &mut self,
        container: &Container,
        rewritten: &[(&str, Vec<u8>)],
        work: &Path,
    ) -> Result<Verdicts> {
        let zip = work.join("rewritten.zip");
        let mut writer = ZipWriter::new(BufWriter::new(std::fs::File::create(&zip)?));
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (entry, bytes) in rewritten {
            writer.start_file(*entry, stored)?;
            writer.write_all(bytes)?;
        }
        writer.finish()?.flush()?;
        writeln!(self.input, "verify\t{}\t{}", container.key(), zip.display())?;
        self.input.flush()?;
        let mut verdicts = Verdicts::default();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                let status = self.child.wait()?;
                let message = format!("the JVM died: {status}");
                verdicts.rejected.push((container.name(), message));
                *self = Judge::start(&self.jdk, &self.jars)?;
                return Ok(verdicts);
            }
            let words: Vec<&str> = line.trim_end().split('\t').collect();
            let pair = |entry: &str, message: &str| (entry.to_owned(), message.to_owned());
            match words.as_slice() {
                ["done", accepted] => {
                    verdicts.accepted = accepted.parse()?;
                    return Ok(verdicts);
                }
                ["rejected", entry, message @ ..] => {
                    verdicts.rejected.push(pair(entry, &message.join(" ")));
                }
                ["original", entry, message @ ..] => {
                    verdicts.original.push(pair(entry, &message.join(" ")));
                }
                _ => return Err(format!("the judge said: {line}").into()),
            }
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It only waits for its next order; nothing is lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
