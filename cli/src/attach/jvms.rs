//! Which JVMs run here, and which of them a name means.

use std::fs;
use std::path::Path;

use crate::attach::target::{Target, TargetError, user};
use crate::error::CliError;

/// Options of the `java` launcher that take the next word.
const WITH_WORD: [&str; 12] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
];

/// A JVM that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningJvm {
    /// Its process, from `/proc`.
    pub target: Target,
    /// Its main class, jar or module, as far as the command line says; else the program's name.
    pub main: String,
}

/// Another user's JVM, as far as can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignJvm {
    /// Process id.
    pub pid: u32,
    /// User id.
    pub owner: u32,
    /// Its main class, jar or module; empty if the system hides command lines.
    pub main: String,
}

/// All JVMs that can be attached to by us, by process id; and processes that are another user's `java`.
pub fn all() -> (Vec<RunningJvm>, Vec<ForeignJvm>) {
    let mut found = Vec::new();
    let mut others = Vec::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        match Target::inspect(pid) {
            Ok(target) if target.libjvm.is_some() => found.push(RunningJvm {
                main: main_of(&target.command),
                target,
            }),
            Err(TargetError::OtherUser { owner, .. }) if is_java(pid) => others.push(ForeignJvm {
                pid,
                owner,
                main: main_of(&command_of(pid)),
            }),
            // Processes that ended meanwhile, and those that are no JVMs.
            _ => {}
        }
    }
    found.sort_by_key(|jvm| jvm.target.pid);
    others.sort_by_key(|jvm| jvm.pid);
    (found, others)
}

fn is_java(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.is_ok_and(|name| name.trim_end() == "java")
}

/// Command lines of other users can be seen, where the system does not hide them.
fn command_of(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let words = text.split('\0').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The program that a command line of `java` runs.
pub fn main_of(command: &[String]) -> String {
    let mut words = command.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-jar" | "-m" | "--module" => return words.next().cloned().unwrap_or_default(),
            option if WITH_WORD.contains(&option) => drop(words.next()),
            option if option.starts_with('-') || option.starts_with('@') => {
                if let Some(module) = option.strip_prefix("--module=") {
                    return module.to_owned();
                }
            }
            main => return main.to_owned(),
        }
    }
    command.first().cloned().unwrap_or_default()
}

/// The JVM of a process id, or the only one whose main class, simple class name or jar is called so.
pub fn find(name: &str) -> Result<u32, CliError> {
    if name.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty() {
        let pid = name.parse::<u32>().ok();
        let pid = pid.filter(|&pid| pid > 0 && i32::try_from(pid).is_ok());
        return pid.ok_or_else(|| CliError::Usage(format!("error: '{name}' is no process id")));
    }
    let (jvms, others) = all();
    let wanted: Vec<&RunningJvm> = jvms.iter().filter(|jvm| is_called(&jvm.main, name)).collect();
    let list = |jvms: &[&RunningJvm]| -> String {
        let lines = jvms
            .iter()
            .map(|jvm| format!("\n  {:>8}  {}", jvm.target.pid, jvm.main));
        lines.collect()
    };
    match wanted.as_slice() {
        [one] => Ok(one.target.pid),
        [] if others.iter().any(|jvm| is_called(&jvm.main, name)) => {
            let meant = others.iter().filter(|jvm| is_called(&jvm.main, name));
            let lines = meant.map(|jvm| format!("\n  {:>8}  {}: {}", jvm.pid, jvm.main, user(jvm.owner)));
            Err(CliError::Failed(format!(
                "'{name}' is another user's; run trodden as that user, or as root:{}",
                lines.collect::<String>()
            )))
        }
        [] if jvms.is_empty() => Err(CliError::Failed(format!(
            "no JVM is called '{name}': none runs here that this user may attach to"
        ))),
        [] => Err(CliError::Failed(format!(
            "no JVM is called '{name}'; there are:{}",
            list(&jvms.iter().collect::<Vec<_>>())
        ))),
        several => Err(CliError::Failed(format!(
            "several JVMs are called '{name}'; name one by its process id:{}",
            list(several)
        ))),
    }
}

/// True if a JVM with this main class, jar or module is meant by a name.
fn is_called(main: &str, name: &str) -> bool {
    let file = Path::new(main).file_name().and_then(|file| file.to_str());
    let file = file.filter(|_| has_ending(main, "jar") || has_ending(main, "java"));
    let stem = file.and_then(|file| file.rsplit_once('.')).map(|(stem, _)| stem);
    // module/package.Class
    let class = main.rsplit_once('/').map_or(main, |(_, class)| class);
    let class = Some(class).filter(|_| file.is_none());
    let simple = class.and_then(|class| class.rsplit('.').next());
    main == name
        || [file, stem, class, simple]
            .into_iter()
            .flatten()
            .any(|word| word == name)
}

fn has_ending(main: &str, ending: &str) -> bool {
    main.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_of_line(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        main_of(&words)
    }

    #[test]
    fn mains_of_command_lines() {
        for (line, main) in [
            ("java -Xmx1g -cp a:b com.acme.Main -jar x", "com.acme.Main"),
            ("/jdk/bin/java -jar lib/app.jar serve", "lib/app.jar"),
            (
                "java --add-opens java.base/java.lang=ALL-UNNAMED -p mods -m shop/com.acme.Shop",
                "shop/com.acme.Shop",
            ),
            ("java --module=shop/com.acme.Shop", "shop/com.acme.Shop"),
            ("java @options --enable-preview Main.java", "Main.java"),
            ("embedded", "embedded"),
            ("java -jar", ""),
        ] {
            assert_eq!(main_of_line(line), main, "{line}");
        }
    }

    #[test]
    fn names_that_mean_a_jvm() {
        for (main, name) in [
            ("com.acme.Main", "Main"),
            ("com.acme.Main", "com.acme.Main"),
            ("lib/app.jar", "app.jar"),
            ("lib/app.jar", "app"),
            ("lib/app.jar", "lib/app.jar"),
            ("shop/com.acme.Shop", "Shop"),
            ("shop/com.acme.Shop", "com.acme.Shop"),
            ("Main.java", "Main"),
        ] {
            assert!(is_called(main, name), "{main} {name}");
        }
        for (main, name) in [
            ("com.acme.Main", "acme"),
            ("lib/app.jar", "jar"),
            ("lib/app.jar", "lib"),
            ("com.acme.Main", ""),
        ] {
            assert!(!is_called(main, name), "{main} {name}");
        }
    }

    #[test]
    fn numbers_are_process_ids() {
        assert!(matches!(find("4711"), Ok(4711)));
        for wrong in ["0", "99999999999"] {
            assert!(matches!(find(wrong), Err(CliError::Usage(_))), "{wrong}");
        }
    }
}
