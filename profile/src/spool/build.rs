//! Which build runs: what its jar or folder says, or a hash of the class path.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::zip::Directory;

/// Folders with more bytes of class files, or more files, are not read.
const MAX_CLASSES: u64 = 256 << 20;
const MAX_FILES: usize = 200_000;
/// The largest file that says which build it is.
const MAX_SAYING: u64 = 1 << 20;
/// Attributes of a manifest in which build tools write the commit.
const COMMIT_ATTRIBUTES: [&str; 7] = [
    "Git-Commit",
    "Git-Commit-Id",
    "Git-SHA",
    "SCM-Revision",
    "Implementation-Build",
    "Build-Revision",
    "Full-Change",
];
const MANIFEST: &str = "META-INF/MANIFEST.MF";
/// Where a plain jar or folder, an executable jar of Spring Boot, and a war have their resources.
const RESOURCES: [&str; 3] = ["", "BOOT-INF/classes/", "WEB-INF/classes/"];

/// The name of the build that runs: the commit in the manifest of the jar with the main class, or in its
/// `git.properties` if no file was changed since; else version and time in Spring Boot's
/// `META-INF/build-info.properties`; else the [hash of the class path](class_path_hash).
///
/// `class_path` and `command` are as the JVM's properties `java.class.path` and `sun.java.command` have them.
pub fn build_name(class_path: &str, command: &str) -> String {
    let said = Application::find(class_path, command).and_then(|mut application| application.build());
    said.unwrap_or_else(|| class_path_hash(class_path))
}

/// The entry of the class path that has the main class: what libraries say of themselves is not asked.
enum Application {
    Jar(File, Directory),
    Folder(PathBuf),
}

impl Application {
    fn find(class_path: &str, command: &str) -> Option<Application> {
        let main = command.split(' ').next()?;
        let is_jar = main.ends_with(".jar");
        // Of a module's main class the module comes first.
        let class = main.rsplit('/').next()?.replace('.', "/") + ".class";
        class_path.split(':').find_map(|entry| {
            let path = Path::new(if entry.is_empty() { "." } else { entry });
            if path.is_dir() {
                return (!is_jar && path.join(&class).is_file())
                    .then(|| Application::Folder(path.to_owned()));
            }
            let mut file = File::open(path).ok()?;
            let directory = Directory::read(&mut file).ok()??;
            (is_jar || directory.has(&class)).then_some(Application::Jar(file, directory))
        })
    }

    /// The text of a file in it.
    fn text(&mut self, name: &str) -> Option<String> {
        let bytes = match self {
            Application::Jar(file, directory) => directory.entry(file, name, MAX_SAYING).ok()??,
            Application::Folder(folder) => {
                let path = folder.join(name);
                let size = path.metadata().ok()?.len();
                (size <= MAX_SAYING).then(|| fs::read(path).ok())??
            }
        };
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn build(&mut self) -> Option<String> {
        let manifest = self.text(MANIFEST);
        let commit = manifest.as_deref().and_then(commit_in_manifest);
        let resource = |this: &mut Self, name: &str| {
            let mut texts = RESOURCES
                .iter()
                .map(|folder| this.text(&format!("{folder}{name}")));
            texts.find_map(|text| text)
        };
        commit
            .or_else(|| commit_in_properties(&resource(self, "git.properties")?))
            .or_else(|| {
                // Spring Boot's plugins write it to the root of an executable jar as well.
                build_info(&resource(self, "META-INF/build-info.properties")?)
            })
    }
}

/// Placeholders that no tool filled in, and numbers that begin again in each job, are no commits.
fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The commit in the main section. A line that begins with a blank continues the one before it.
fn commit_in_manifest(manifest: &str) -> Option<String> {
    let lines = manifest.replace("\r\n", "\n").replace("\n ", "");
    let main = lines.split("\n\n").next()?;
    let value = |name: &str| {
        main.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let values = COMMIT_ATTRIBUTES.iter().filter_map(|name| value(name));
    values.into_iter().find(|value| is_commit(value))
}

/// A value of a `.properties` file, without escapes but those that writers put in front of `:` and `=`.
fn property(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.trim_start().split_once('=')?;
        (key.trim_end() == name).then(|| value.trim().replace("\\:", ":").replace("\\=", "="))
    })
}

fn commit_in_properties(text: &str) -> Option<String> {
    if property(text, "git.dirty").is_some_and(|dirty| dirty != "false") {
        return None;
    }
    let names = ["git.commit.id.full", "git.commit.id"];
    let values = names.iter().filter_map(|name| property(text, name));
    values.into_iter().find(|value| is_commit(value))
}

/// A version alone is that of many builds.
fn build_info(text: &str) -> Option<String> {
    let value = |name: &str| property(text, name).filter(|value| !value.is_empty());
    Some(format!("{}@{}", value("build.version")?, value("build.time")?))
}

/// The first 16 hex digits of the SHA-256 of a text: `trodden build 1`, and a line for each entry of the class path. For a jar that is
/// its name without folder, a blank, and the SHA-256 (hex) of its ZIP central directory, which has the name, size and CRC-32 of each entry. For a folder
/// it is the SHA-256 of a text that has a line for each of its `.class` files, by ascending name: name (from the folder on, with `/`), size,
/// CRC-32 in 8 hex digits. What cannot be read, or is too large, is the word `missing`. Each line ends with a newline.
///
/// `class_path` is as the JVM's property `java.class.path` has it: entries with `:` in between.
pub fn class_path_hash(class_path: &str) -> String {
    let mut text = String::from("trodden build 1\n");
    for entry in class_path.split(':') {
        // An empty entry is the current folder.
        let path = Path::new(if entry.is_empty() { "." } else { entry });
        let line = match fs::metadata(path) {
            Ok(data) if data.is_dir() => folder(path),
            Ok(data) if data.is_file() => jar(path),
            _ => None,
        };
        text.push_str(line.as_deref().unwrap_or("missing"));
        text.push('\n');
    }
    hex(&Sha256::digest(text))[..16].to_owned()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn jar(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let directory = Directory::read(&mut File::open(path).ok()?).ok()??;
    Some(format!("{name} {}", hex(&Sha256::digest(directory.bytes()))))
}

fn folder(path: &Path) -> Option<String> {
    let mut files = Vec::new();
    class_files(path, "", &mut files).ok()?;
    let bytes = files
        .iter()
        .fold(0u64, |sum, (_, size)| sum.saturating_add(*size));
    if bytes > MAX_CLASSES {
        return None;
    }
    files.sort();
    let mut text = Sha256::new();
    for (name, _) in files {
        let bytes = fs::read(path.join(&name)).ok()?;
        text.update(format!(
            "{name} {} {:08x}\n",
            bytes.len(),
            crc32fast::hash(&bytes)
        ));
    }
    Some(hex(&text.finalize()))
}

/// Names, from the folder on, and sizes.
fn class_files(folder: &Path, before: &str, files: &mut Vec<(String, u64)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        // Links are not followed: they may lead in a circle.
        let data = entry.metadata()?;
        if data.is_dir() {
            class_files(&entry.path(), &format!("{name}/"), files)?;
        } else if data.is_file() && name.ends_with(".class") {
            files.push((name, data.len()));
        }
        if files.len() > MAX_FILES {
            return Err(io::Error::other("too many files"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file with these entries, the second packed, behind something else.
    fn jar_of(entries: &[(&str, &str)]) -> Vec<u8> {
        let (mut bytes, mut directory) = (b"#!/bin/sh\n".to_vec(), Vec::new());
        let before = bytes.len();
        for (at, (name, text)) in entries.iter().enumerate() {
            let mut packed = text.as_bytes().to_vec();
            let method = if at % 2 == 1 { 8u16 } else { 0 };
            if method == 8 {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
                packed = encoder.finish().unwrap();
            }
            let sizes = [
                crc32fast::hash(text.as_bytes()),
                packed.len() as u32,
                text.len() as u32,
            ];
            let sizes: Vec<u8> = sizes.iter().flat_map(|number| number.to_le_bytes()).collect();
            let offset = (bytes.len() - before) as u32;
            bytes.extend_from_slice(b"PK\x03\x04\x14\0\0\0");
            bytes.extend_from_slice(&method.to_le_bytes());
            bytes.extend_from_slice(&[0; 4]);
            bytes.extend_from_slice(&sizes);
            bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
            // An extra field that the directory does not have.
            bytes.extend_from_slice(&4u16.to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(&[0xfe, 0xca, 0, 0]);
            bytes.extend_from_slice(&packed);
            directory.extend_from_slice(b"PK\x01\x02\x14\0\x14\0\0\0");
            directory.extend_from_slice(&method.to_le_bytes());
            directory.extend_from_slice(&[0; 4]);
            directory.extend_from_slice(&sizes);
            directory.extend_from_slice(&(name.len() as u16).to_le_bytes());
            directory.extend_from_slice(&[0; 12]);
            directory.extend_from_slice(&offset.to_le_bytes());
            directory.extend_from_slice(name.as_bytes());
        }
        let offset = (bytes.len() - before) as u32;
        let entries = (entries.len() as u16).to_le_bytes();
        bytes.extend_from_slice(&directory);
        bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        bytes.extend_from_slice(&[entries, entries].concat());
        bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&offset.to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
        bytes
    }

    /// In the order in which they are asked; a library says nothing about the application.
    #[test]
    fn builds_say_themselves_what_they_are() {
        const MAIN: (&str, &str) = ("p/Main.class", "class");
        const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let name = |entries: &[(&str, &str)]| {
            fs::write(at("app.jar"), jar_of(entries)).unwrap();
            let by_jar = build_name(&at("app.jar"), &format!("{} --port 80", at("app.jar")));
            // As a class on the class path, with a library in front.
            let path = [at("library.jar"), at("app.jar")].join(":");
            let by_class = build_name(&path, "p.Main --port 80");
            if by_jar != class_path_hash(&at("app.jar")) {
                assert_eq!(by_class, by_jar);
            } else {
                assert_eq!(by_class, class_path_hash(&path));
            }
            by_jar
        };
        let other = "Manifest-Version: 1.0\r\nGit-Commit: fedcba9876543210\r\n\r\n";
        fs::write(
            at("library.jar"),
            jar_of(&[("q/Other.class", "class"), (MANIFEST, other)]),
        )
        .unwrap();
        // 72 bytes is the longest line: the rest is on the next one.
        let manifest = format!(
            "Manifest-Version: 1.0\r\nImplementation-Version: 1.2\r\nGit-Commit: {}\r\n {}\r\n\r\nName: p/\r\n",
            &COMMIT[..20],
            &COMMIT[20..]
        );
        let unfilled =
            "Manifest-Version: 1.0\nImplementation-Build: ${buildNumber}\n\nName: p/\nGit-Commit: 0123456\n";
        let clean = "#by a plugin\ngit.branch=main\ngit.commit.id = abcdef0123456789\ngit.dirty=false\ngit.commit.time=12\\:00\n";
        let dirty = clean.replace("=false", "=true");
        let info = "build.version=1.2\nbuild.time=2026-11-27T10\\:00\\:00Z\n";
        assert_eq!(
            name(&[MAIN, (MANIFEST, &manifest), ("git.properties", clean)]),
            COMMIT
        );
        assert_eq!(
            name(&[MAIN, ("git.properties", clean), (MANIFEST, unfilled)]),
            "abcdef0123456789"
        );
        let in_boot = ("BOOT-INF/classes/git.properties", clean);
        assert_eq!(name(&[MAIN, in_boot]), "abcdef0123456789");
        let of_boot = ("BOOT-INF/classes/META-INF/build-info.properties", info);
        assert_eq!(
            name(&[MAIN, of_boot, ("git.properties", &dirty)]),
            "1.2@2026-11-27T10:00:00Z"
        );
        let hash = name(&[MAIN, ("git.properties", &dirty), (MANIFEST, unfilled)]);
        assert_eq!(hash, class_path_hash(&at("app.jar")));
        // A folder, and a module's main class.
        fs::create_dir_all(at("classes/p")).unwrap();
        fs::write(at("classes/p/Main.class"), "class").unwrap();
        fs::write(at("classes/git.properties"), clean).unwrap();
        assert_eq!(build_name(&at("classes"), "m/p.Main"), "abcdef0123456789");
        assert_eq!(
            build_name(&at("classes"), "p.Missing"),
            class_path_hash(&at("classes"))
        );
    }

    /// A zip file without entries, with a comment, behind something else.
    fn zip(directory: &[u8], before: &[u8], comment: &[u8]) -> Vec<u8> {
        let mut bytes = before.to_vec();
        bytes.extend_from_slice(directory);
        bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\0\0\0\0");
        bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(&(comment.len() as u16).to_le_bytes());
        bytes.extend_from_slice(comment);
        bytes
    }

    #[test]
    fn entries_count_by_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        fs::write(at("a.jar"), zip(b"the directory", b"", b"")).unwrap();
        fs::write(at("no.jar"), b"PK\x05\x06 but no more").unwrap();
        fs::create_dir_all(at("classes/p")).unwrap();
        fs::write(at("classes/p/A.class"), "A").unwrap();
        fs::write(at("classes/B.class"), "BB").unwrap();
        fs::write(at("classes/text"), "is not asked").unwrap();
        let path = [at("a.jar"), at("classes"), at("gone.jar"), at("no.jar")].join(":");
        // By `sha256sum` and `crc32`.
        let directory = hex(&Sha256::digest("the directory"));
        let classes = hex(&Sha256::digest("B.class 2 1b441fc4\np/A.class 1 d3d99e8b\n"));
        let text = format!("trodden build 1\na.jar {directory}\n{classes}\nmissing\nmissing\n");
        assert_eq!(class_path_hash(&path), hex(&Sha256::digest(text))[..16]);
        // A comment, or a script in front, is no part of the directory; another folder is not either.
        fs::create_dir(at("lib")).unwrap();
        fs::write(
            at("lib/a.jar"),
            zip(b"the directory", b"#!/bin/sh\n", b"PK\x05\x06 comment"),
        )
        .unwrap();
        assert_eq!(class_path_hash(&at("lib/a.jar")), class_path_hash(&at("a.jar")));
        assert_ne!(class_path_hash(&at("a.jar")), class_path_hash(&at("no.jar")));
    }
}
