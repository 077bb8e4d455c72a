//! JaCoCo, the yardstick for lines and branches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::jdk::Jdk;
use crate::{Result, build, process};

const LIMIT: Duration = Duration::from_secs(200);

/// JaCoCo's command line, agent and DTD.
#[derive(Clone, Debug)]
pub struct Jacoco {
    /// The command line.
    pub cli: PathBuf,
    /// The agent.
    pub agent: PathBuf,
    /// The DTD of the XML report.
    pub dtd: PathBuf,
    /// The compiler of Eclipse, fetched with it.
    pub ecj: PathBuf,
}

impl Jacoco {
    /// Fetches it by Maven, once.
    ///
    /// # Errors
    /// If Maven fails.
    pub fn fetched() -> Result<Jacoco> {
        let pom = Path::new(build::ROOT).join("coverage/pom.xml");
        let folder = build::cached("jacoco", std::slice::from_ref(&pom), &[], |out| {
            let mut maven = Command::new("mvn");
            maven.args(["-q", "-B", "-f"]).arg(&pom);
            maven.arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies");
            maven.arg("-DexcludeTransitive=true");
            maven.arg(format!("-DoutputDirectory={}", out.display()));
            build::run_maven(&mut maven)?;
            let jar = fs::File::open(out.join("org.jacoco.cli-0.8.14-nodeps.jar"))?;
            let mut jar = zip::ZipArchive::new(jar)?;
            let dtd = "org/jacoco/cli/internal/report/xml/report.dtd";
            std::io::copy(
                &mut jar.by_name(dtd)?,
                &mut fs::File::create(out.join("report.dtd"))?,
            )?;
            Ok(())
        })?;
        Ok(Jacoco {
            cli: folder.join("org.jacoco.cli-0.8.14-nodeps.jar"),
            agent: folder.join("org.jacoco.agent-0.8.14-runtime.jar"),
            dtd: folder.join("report.dtd"),
            ecj: folder.join("ecj-3.43.0.jar"),
        })
    }

    /// The option that starts it in a JVM, writing to this file.
    pub fn flag(&self, file: &Path) -> String {
        format!("-javaagent:{}=destfile={}", self.agent.display(), file.display())
    }

    /// Its own XML report about what it recorded, of the classes in this folder.
    ///
    /// # Errors
    /// If it fails.
    pub fn report(&self, jdk: &Jdk, exec: &Path, classes: &Path) -> Result<String> {
        let folder = tempfile::tempdir()?;
        let xml = folder.path().join("report.xml");
        let mut java = jdk.command("java");
        java.arg("-jar").arg(&self.cli).arg("report").arg(exec);
        java.arg("--classfiles").arg(classes).arg("--xml").arg(&xml);
        process::run(&mut java, LIMIT)?.success()?;
        Ok(fs::read_to_string(xml)?)
    }
}

/// All counters and lines of a JaCoCo report, by where they stand.
pub fn facts(xml: &str) -> BTreeMap<String, String> {
    let mut stack: Vec<String> = Vec::new();
    let mut facts = BTreeMap::new();
    for tag in xml.split('<').skip(1) {
        let tag = tag.split_once('>').map_or(tag, |(tag, _)| tag);
        let (open, alone) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, attributes) = open.split_once(' ').unwrap_or((open, ""));
        let attribute = |wanted: &str| {
            let start = format!("{wanted}=\"");
            let from = attributes.find(&start)? + start.len();
            attributes[from..].split('"').next()
        };
        match name {
            "counter" => {
                let key = format!("{} {}", stack.join("/"), attribute("type").unwrap_or_default());
                facts.insert(key, attributes.to_owned());
            }
            "line" => {
                let key = format!("{} line {}", stack.join("/"), attribute("nr").unwrap_or_default());
                facts.insert(key, attributes.to_owned());
            }
            "package" | "class" | "sourcefile" | "method" if !alone => {
                let line = attribute("line")
                    .map(|line| format!(" from {line}"))
                    .unwrap_or_default();
                let own = [attribute("name"), attribute("desc")]
                    .map(Option::unwrap_or_default)
                    .concat();
                stack.push(format!("{name} {own}{line}"));
            }
            "/package" | "/class" | "/sourcefile" | "/method" => {
                stack.pop();
            }
            _ => {}
        }
    }
    facts
}
