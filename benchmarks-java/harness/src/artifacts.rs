//! The committed list of what is fetched, and how it is fetched: by Maven, from whatever repository Maven is
//! set up to use, into git-ignored folders.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result, io};
use crate::workspace::Workspace;

/// Version of Maven's dependency plugin, pinned like everything else.
const PLUGIN: &str = "3.6.1";

/// Coordinates of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The folder below `apps/` that it belongs to.
    pub set: String,
    /// Group id.
    pub group: String,
    /// Artifact id.
    pub artifact: String,
    /// Version.
    pub version: String,
    /// Packaging; `jar` if the list does not say.
    pub packaging: String,
    /// Classifier, such as `sources`.
    pub classifier: Option<String>,
}

/// Parses the list: `SET GROUP:ARTIFACT:VERSION[:PACKAGING[:CLASSIFIER]]` per line, `#` begins a comment.
///
/// # Errors
/// If a line is something else.
pub fn parse(list: &str) -> Result<Vec<Artifact>> {
    let mut artifacts = Vec::new();
    for (index, line) in list.lines().enumerate() {
        let text = line.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        artifacts.push(parse_line(text).ok_or_else(|| Error::Parse {
            line: index + 1,
            problem: "not 'SET GROUP:ARTIFACT:VERSION[:PACKAGING[:CLASSIFIER]]'",
            text: line.to_owned(),
        })?);
    }
    Ok(artifacts)
}

fn parse_line(text: &str) -> Option<Artifact> {
    // These words end up in a file name and in XML, so nothing but the characters of coordinates.
    let plain = |word: &&str| {
        let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !word.is_empty() && !word.starts_with('.') && word.chars().all(legal)
    };
    let mut words = text.split_whitespace();
    let set = words.next().filter(plain)?;
    let coordinates: Vec<&str> = words.next()?.split(':').collect();
    let good = (3..=5).contains(&coordinates.len()) && coordinates.iter().all(plain);
    (good && words.next().is_none()).then(|| Artifact {
        set: set.to_owned(),
        group: coordinates[0].to_owned(),
        artifact: coordinates[1].to_owned(),
        version: coordinates[2].to_owned(),
        packaging: coordinates.get(3).unwrap_or(&"jar").to_string(),
        classifier: coordinates.get(4).map(|c| c.to_string()),
    })
}

impl Artifact {
    /// The file's name in its folder, as Maven's copy goal makes it.
    pub fn file_name(&self) -> String {
        let classifier = self
            .classifier
            .as_deref()
            .map(|c| format!("-{c}"))
            .unwrap_or_default();
        format!(
            "{}-{}{classifier}.{}",
            self.artifact, self.version, self.packaging
        )
    }
}

/// Brings what is missing of these sets (or of all sets if none are named). Returns how many files came.
///
/// # Errors
/// If a set is unknown, or Maven fails; its last lines are in the error.
pub fn fetch(workspace: &Workspace, sets: &[String]) -> Result<usize> {
    let all = workspace.artifacts()?;
    if let Some(unknown) = sets.iter().find(|set| all.iter().all(|a| a.set != **set)) {
        return Err(Error::Usage(format!("no set '{unknown}' in artifacts.txt")));
    }
    let wanted = all
        .into_iter()
        .filter(|a| sets.is_empty() || sets.contains(&a.set));
    let missing: Vec<Artifact> = wanted.filter(|a| !workspace.artifact(a).is_file()).collect();
    if missing.is_empty() {
        return Ok(0);
    }
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let pom = folder.path().join("pom.xml");
    std::fs::write(&pom, project(&missing, &workspace.apps())).map_err(io("write", &pom))?;
    let output = Command::new("mvn")
        .args(["-B", "-q", "-f"])
        .arg(&pom)
        .arg("dependency:copy")
        .output()
        .map_err(io("start", "mvn"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors: Vec<&str> = text.lines().filter(|l| l.contains("ERROR")).take(5).collect();
        return Err(Error::Program {
            program: "mvn dependency:copy".to_owned(),
            problem: format!("{}: {}", output.status, errors.join("\n")),
        });
    }
    match missing.iter().find(|a| !workspace.artifact(a).is_file()) {
        Some(absent) => Err(Error::Program {
            program: "mvn dependency:copy".to_owned(),
            problem: format!("brought no {}", absent.file_name()),
        }),
        None => Ok(missing.len()),
    }
}

/// A Maven project whose only purpose is to copy these files.
fn project(artifacts: &[Artifact], apps: &Path) -> String {
    let mut items = String::new();
    for a in artifacts {
        let classifier = match &a.classifier {
            Some(c) => format!("<classifier>{c}</classifier>"),
            None => String::new(),
        };
        let folder = escape(&apps.join(&a.set).to_string_lossy());
        let _ = writeln!(
            items,
            "<artifactItem><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>\
             <type>{}</type>{classifier}<outputDirectory>{folder}</outputDirectory></artifactItem>",
            a.group, a.artifact, a.version, a.packaging
        );
    }
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>trodden</groupId><artifactId>fetch</artifactId>\
         <version>1</version><packaging>pom</packaging><build><plugins><plugin>\
         <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>\
         <version>{PLUGIN}</version><configuration><artifactItems>\n{items}</artifactItems></configuration>\
         </plugin></plugins></build></project>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_file_names() {
        let list = "# a comment\n\nasm  org.ow2.asm:asm:9.7.1\nsources a.b:c:1.0:jar:sources # why\n";
        let artifacts = parse(list).unwrap();
        assert_eq!(artifacts.len(), 2);
        assert_eq!(artifacts[0].file_name(), "asm-9.7.1.jar");
        assert_eq!(artifacts[1].file_name(), "c-1.0-sources.jar");
        assert_eq!(artifacts[1].set, "sources");
    }

    #[test]
    fn bad_lines_are_named() {
        for bad in [
            "asm",
            "asm a:b",
            "asm a:b:c:d:e:f",
            "asm a:b:c d",
            "asm a:b:<c>",
            "../x a:b:c",
        ] {
            let error = parse(&format!("x a:b:1\n{bad}")).unwrap_err();
            assert!(error.to_string().starts_with("line 2: "), "{error}");
        }
    }

    #[test]
    fn committed_list_is_sound() {
        let list = include_str!("../../artifacts.txt");
        let artifacts = parse(list).unwrap();
        assert!(artifacts.iter().filter(|a| a.set == "corpus").count() >= 30);
        let mut names: Vec<_> = artifacts.iter().map(|a| (&a.set, a.file_name())).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), artifacts.len(), "a line stands twice");
    }

    #[test]
    fn project_names_every_file() {
        let artifacts = parse("s a.b:c:1.0:jar:sources").unwrap();
        let text = project(&artifacts, Path::new("/x&y/apps"));
        assert!(text.contains("<classifier>sources</classifier>"));
        assert!(text.contains("<outputDirectory>/x&amp;y/apps/s</outputDirectory>"));
    }
}
