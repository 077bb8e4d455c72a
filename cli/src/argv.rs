//! The words of a command line before clap reads them: `trodden java …` is `trodden run java …`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;
use trodden_profile::options::nearest;

use crate::error::CliError;
use crate::profile_args::HELP_ALL;

/// Programs that start JVMs, known by their names.
pub const LAUNCHERS: [&str; 5] = ["java", "mvn", "mvnw", "gradle", "gradlew"];

/// Puts `run` in front of a launcher, where no subcommand is named.
pub fn with_run(mut words: Vec<OsString>, commands: &Command) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| starts_jvms(word, commands)) {
        words.insert(1, OsString::from("run"));
    }
    words
}

/// True if this first word can be nothing but a program: a launcher by its name, or a path to a
/// program.
fn starts_jvms(word: &OsStr, commands: &Command) -> bool {
    let Some(text) = word.to_str() else {
        return false;
    };
    if text.starts_with('-') || commands.find_subcommand(text).is_some() {
        return false;
    }
    LAUNCHERS.contains(&text) || (text.contains('/') && is_program(Path::new(word)))
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "exe") && path.is_file()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let data = path.metadata();
    data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The command or program with the nearest name, for a first word that is neither.
pub fn slip(words: &[OsString], commands: &Command) -> Option<CliError> {
    let given = words.get(1)?.to_str()?;
    if given.starts_with('-') || given == "help" || commands.find_subcommand(given).is_some() {
        return None;
    }
    let visible = commands
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let names = visible.map(Command::get_name).chain(LAUNCHERS);
    let near = nearest(given, names)?;
    Some(CliError::Usage(format!(
        "error: '{given}' is no command; did you mean '{near}'?"
    )))
}

/// True if every option is to be explained. Asked for before the command's own words.
pub fn asks_for_all(words: &[OsString]) -> bool {
    let ours = words.iter().take_while(|word| *word != "--");
    ours.into_iter().any(|word| *word == *format!("--{HELP_ALL}"))
}

/// The launcher that a program's name may have meant: `; did you mean 'java'?`.
pub fn near_launcher(program: &OsStr) -> String {
    let near = program.to_str().and_then(|name| nearest(name, LAUNCHERS));
    near.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn launchers_are_run() {
        let commands = crate::Cli::command();
        for (given, expected) in [
            (
                &["trodden", "java", "-version"][..],
                &["trodden", "run", "java", "-version"][..],
            ),
            (&["trodden", "/bin/sh", "x"], &["trodden", "run", "/bin/sh", "x"]),
            (&["trodden", "mvn", "test"], &["trodden", "run", "mvn", "test"]),
            (&["trodden", "report", "java"], &["trodden", "report", "java"]),
            (&["trodden", "repotr", "x"], &["trodden", "repotr", "x"]),
            (&["trodden", "/nowhere/java"], &["trodden", "/nowhere/java"]),
            (&["trodden", "--version"], &["trodden", "--version"]),
            (&["trodden"], &["trodden"]),
        ] {
            let words = given.iter().map(OsString::from).collect();
            assert_eq!(with_run(words, &commands), expected);
        }
    }

    #[test]
    fn slips_of_commands_and_launchers() {
        let commands = crate::Cli::command();
        let slip = |word: &str| slip(&["trodden".into(), word.into()], &commands);
        for (given, meant) in [
            ("rnu", "run"),
            ("jav", "java"),
            ("gradel", "gradle"),
            ("mvnn", "mvn"),
            ("repotr", "report"),
            ("Top", "top"),
        ] {
            let said = slip(given).unwrap().to_string();
            assert!(
                said.contains(&format!("did you mean '{meant}'?")),
                "{given}: {said}"
            );
        }
        for given in ["run", "--version", "help", "man", "entirely-else"] {
            assert!(slip(given).is_none(), "{given}");
        }
    }

    #[test]
    fn every_command_is_documented() {
        let page = include_str!("../../docs/command-line.md");
        for command in crate::Cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(
                command.is_hide_set() || page.contains(&format!("| `trodden {name}")),
                "{name}"
            );
        }
    }
}
