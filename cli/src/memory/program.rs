//! Which program a `java` command runs, so that its next run is known to be the same program.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Options of `java` whose value is the next word, but for those that name the class path.
const WITH_VALUE: [&str; 8] = [
    "--add-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--enable-native-access",
    "--limit-modules",
    "--upgrade-module-path",
    "--source",
];

/// A program with its input, as far as the command line has it: what is run, where its code is looked for,
/// and its arguments. The content of files does not count, so a new build is the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the main class or module, or file name of the jar.
    pub main: String,
    /// Absolute paths.
    entries: BTreeSet<PathBuf>,
    /// System properties, in any order.
    properties: BTreeSet<String>,
    /// The program's own arguments.
    arguments: Vec<OsString>,
}

impl Program {
    /// The program of a `java` command with these words after `java`; `None` if they do not say it: options
    /// in files, or no main class. `class_path`: what the environment says.
    pub fn new(words: &[OsString], class_path: Option<&str>, here: &Path) -> Option<Self> {
        let mut entries = BTreeSet::new();
        let mut properties = BTreeSet::new();
        let mut add = |list: &str| {
            let parts = list.split(':').filter(|part| !part.is_empty());
            entries.extend(parts.map(|part| here.join(part)));
        };
        let mut class_path = class_path.map(str::to_owned);
        let mut words = words.iter();
        let main = loop {
            let word = words.next()?.to_str()?;
            match word {
                "-jar" => {
                    let jar = here.join(words.next()?.to_str()?);
                    let name = jar.file_name()?.to_str()?.to_owned();
                    // The jar is the class path; others are ignored.
                    class_path = None;
                    add(jar.to_str()?);
                    break name;
                }
                "-cp" | "-classpath" | "--class-path" => {
                    class_path = Some(words.next()?.to_str()?.to_owned())
                }
                "-p" | "--module-path" => add(words.next()?.to_str()?),
                "-m" | "--module" => break words.next()?.to_str()?.to_owned(),
                _ if WITH_VALUE.contains(&word) => _ = words.next()?,
                _ if word.starts_with('@') => return None,
                _ if word.starts_with("-D") => _ = properties.insert(word.to_owned()),
                _ => match word.split_once('=') {
                    Some(("--class-path", path)) => class_path = Some(path.to_owned()),
                    Some(("--module-path", path)) => add(path),
                    Some(("--module", module)) => break module.to_owned(),
                    _ if word.starts_with('-') => {}
                    // One source file, compiled at once.
                    _ if word.ends_with(".java") => return None,
                    _ => break word.to_owned(),
                },
            }
        };
        if let Some(list) = class_path {
            add(&list);
        }
        Some(Program {
            main,
            entries,
            properties,
            arguments: words.cloned().collect(),
        })
    }

    /// A file name for it: readable, and its own.
    pub fn file_name(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.main.as_bytes());
        let entries = self.entries.iter().map(|entry| (0, entry.as_os_str()));
        let properties = self.properties.iter().map(|word| (1, OsStr::new(word)));
        let arguments = self.arguments.iter().map(|word| (2, word.as_os_str()));
        // No word of a command line holds a zero byte, and each kind has a mark.
        for (kind, word) in entries.chain(properties).chain(arguments) {
            hasher.update([0, kind]);
            hasher.update(word.as_encoded_bytes());
        }
        let mut name: String = self.main.chars().take(80).map(plain).collect();
        name.push('-');
        for byte in &hasher.finalize()[..8] {
            let _ = write!(name, "{byte:02x}");
        }
        name
    }
}

fn plain(c: char) -> char {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => c,
        _ => '_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &str) -> Option<Program> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        Program::new(&words, Some("env.jar"), Path::new("/work"))
    }

    fn name(words: &str) -> String {
        program(words).unwrap().file_name()
    }

    #[test]
    fn a_program_is_its_main_class_and_where_its_code_is() {
        let same = name("-cp a:b/c.jar shop.Main");
        assert!(same.starts_with("shop.Main-"), "{same}");
        for words in [
            "-Xmx1g -cp a:b/c.jar shop.Main",
            "-ea --class-path=b/c.jar:/work/a shop.Main",
            "--add-opens java.base/java.lang=ALL-UNNAMED -classpath a::b/c.jar shop.Main",
        ] {
            assert_eq!(name(words), same, "{words}");
        }
        for words in [
            "-cp a shop.Main",
            "-cp a:b/c.jar shop.Other",
            "-cp a:b/c.jar -p m shop.Main",
            // Other input is another program: what is known of one says nothing about the other.
            "-cp a:b/c.jar shop.Main x",
            "-Dx=1 -cp a:b/c.jar shop.Main",
        ] {
            assert_ne!(name(words), same, "{words}");
        }
        // Without an option the environment says.
        assert_eq!(name("shop.Main"), name("-cp env.jar shop.Main"));
        assert_eq!(
            program("-cp x -jar lib/shop.jar a b").unwrap(),
            program("-jar /work/lib/shop.jar a b").unwrap()
        );
        assert_ne!(name("-jar shop.jar a b"), name("-jar shop.jar b a"));
        assert_eq!(
            name("-Da=1 -Db=2 -jar shop.jar"),
            name("-Db=2 -Da=1 -jar shop.jar")
        );
        assert_eq!(program("-jar lib/shop.jar").unwrap().main, "shop.jar");
        assert_eq!(
            program("-p mods -m shop/shop.Main").unwrap().main,
            "shop/shop.Main"
        );
        assert!(name("-p mods -m shop/shop.Main").starts_with("shop_shop.Main-"));
    }

    #[test]
    fn what_does_not_tell_is_no_program() {
        for words in ["-version", "@arguments", "Main.java", "-cp", "-jar"] {
            assert_eq!(program(words), None, "{words}");
        }
    }
}
