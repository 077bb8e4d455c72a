//! A run's folder: raw data, command, versions and machine, without names of hosts or private paths.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result, io};
use crate::workspace::{Jdk, Workspace};

/// `runs/<date>-<label>/`.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
}

impl Record {
    /// Creates the folder and writes down command, versions and machine.
    ///
    /// # Errors
    /// If the label is not a plain word, the folder is there already, or cannot be written.
    pub fn create(workspace: &Workspace, label: &str, jdks: &[Jdk]) -> Result<Record> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if label.is_empty() || !label.chars().all(plain) {
            return Err(Error::Usage(format!("label '{label}' is not a plain word")));
        }
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_secs());
        let folder = workspace.runs().join(format!("{}-{label}", date(seconds)));
        let runs = workspace.runs();
        std::fs::create_dir_all(&runs).map_err(io("create", &runs))?;
        std::fs::create_dir(&folder).map_err(io("create", &folder))?;
        let record = Record { folder };
        record.write("versions.txt", &versions(workspace, jdks))?;
        record.write("command.txt", &command(workspace, jdks))?;
        Ok(record)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(io("write", &path))
    }

    /// Starts the raw data: lines are written as they come, so that an interrupted run keeps what it has.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn raw(&self, header: &str) -> Result<Raw> {
        self.csv("raw.csv", header)
    }

    /// Starts another such file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn csv(&self, name: &str, header: &str) -> Result<Raw> {
        let path = self.folder.join(name);
        let file = File::create(&path).map_err(io("create", &path))?;
        let mut raw = Raw { path, file };
        raw.line(header)?;
        Ok(raw)
    }
}

/// The file of raw data.
#[derive(Debug)]
pub struct Raw {
    path: PathBuf,
    file: File,
}

impl Raw {
    /// Appends a line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn line(&mut self, text: &str) -> Result<()> {
        writeln!(self.file, "{text}").map_err(io("write", &self.path))
    }
}

/// `YYYY-MM-DD` of seconds since 1970 (UTC), by counting years and months.
fn date(seconds: u64) -> String {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let (mut days, mut year) = (seconds / 86_400, 1970);
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, days + 1)
}

fn versions(workspace: &Workspace, jdks: &[Jdk]) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(workspace.repository())
            .args(arguments)
            .output();
        output.map_or_else(
            |_| "unknown".to_owned(),
            |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
        )
    };
    // Committed run data and fetched files do not change what was measured.
    let changed = !git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        ":!benchmarks-java/runs",
    ])
    .is_empty();
    let mut text = format!(
        "trodden: {} (git {}{})\nos: {} {}\ncpus: {}\n",
        env!("CARGO_PKG_VERSION"),
        git(&["rev-parse", "--short", "HEAD"]),
        if changed { ", with uncommitted changes" } else { "" },
        std::env::consts::OS,
        std::env::consts::ARCH,
        std::thread::available_parallelism().map_or(0, usize::from),
    );
    for (file, key, name) in [
        ("/proc/cpuinfo", "model name", "cpu"),
        ("/proc/meminfo", "MemTotal", "memory"),
        ("/proc/sys/kernel/osrelease", "", "kernel"),
        ("/proc/loadavg", "", "load at start"),
    ] {
        let Ok(content) = std::fs::read_to_string(file) else {
            continue;
        };
        if let Some(line) = content.lines().find(|line| line.starts_with(key)) {
            let value = line.split_once(':').map_or(line, |(_, value)| value);
            // The kernel's number is enough; what a builder appended to it describes the place, not the
            // machine.
            let value = if name == "kernel" {
                value.split('-').next().unwrap_or(value)
            } else {
                value
            };
            text.push_str(&format!("{name}: {}\n", value.trim()));
        }
    }
    for jdk in jdks {
        text.push_str(&format!(
            "\njava -version of {}:\n{}\n",
            jdk.version, jdk.full_version
        ));
    }
    text
}

fn command(workspace: &Workspace, jdks: &[Jdk]) -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let line = format!("trodden-bench {}", arguments.join(" "));
    format!("{}\n", hide_paths(&line, workspace.repository(), jdks))
}

/// Puts names in place of the paths of this repository and of the JDKs; of other absolute paths the file name
/// stays.
fn hide_paths(text: &str, repository: &Path, jdks: &[Jdk]) -> String {
    let mut text = text.replace(&*repository.to_string_lossy(), ".");
    for jdk in jdks {
        text = text.replace(&*jdk.home.to_string_lossy(), &format!("JDK-{}", jdk.version));
    }
    let words = text.split(' ').map(|word| match word.rsplit_once('/') {
        Some((before, name)) if before.starts_with('/') => format!("…/{name}"),
        Some((before, name)) if before.contains("=/") => {
            format!("{}=…/{name}", before.split("=/").next().unwrap_or_default())
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(951_868_800), "2000-03-01");
        assert_eq!(date(1_735_689_599), "2024-12-31");
        assert_eq!(date(1_735_689_600), "2025-01-01");
    }

    #[test]
    fn private_paths_do_not_get_out() {
        let jdk = Jdk {
            home: "/opt/secret/jdk".into(),
            version: "17.0.1".into(),
            full_version: String::new(),
        };
        let text =
            "run --jdk /opt/secret/jdk --agent /home/me/lib.so --root=/home/me/x /src/t/benchmarks-java";
        assert_eq!(
            hide_paths(text, Path::new("/src/t"), &[jdk]),
            "run --jdk JDK-17.0.1 --agent …/lib.so --root=…/x ./benchmarks-java"
        );
    }
}
