//! How the agent gets into the JVM: as an argument of `java`, or through the environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use super::build_tools::BuildTool;
use crate::error::CliError;

/// Variable that every JVM reads options from.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// The kind of program that the command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `java` itself: the agent becomes its first argument.
    Java,
    /// A build tool, which starts JVMs for tests or the program, and is none of what is asked for.
    Build(BuildTool),
    /// Anything else that may start JVMs, one or several: the agent goes into `JAVA_TOOL_OPTIONS`.
    Other,
}

impl Launcher {
    /// The kind of a program, by its file name.
    pub fn for_program(program: &OsStr) -> Self {
        let name = Path::new(program).file_name().unwrap_or_default();
        match (name == "java", BuildTool::from_name(name)) {
            (true, _) => Launcher::Java,
            (_, Some(tool)) => Launcher::Build(tool),
            _ => Launcher::Other,
        }
    }

    /// True if the command may start several JVMs.
    pub fn starts_several(self) -> bool {
        self != Launcher::Java
    }

    /// Why there may be no profile after the command.
    pub fn nothing_written(self) -> &'static str {
        match self {
            Launcher::Build(tool) => tool.nothing_written(),
            _ => "did the command start a JVM, and did it end on its own?",
        }
    }

    /// Adds the arguments and the agent to the command, and a Java agent if there is one.
    pub fn prepare(
        self,
        command: &mut Command,
        arguments: &[OsString],
        library: &Path,
        options: &str,
        java_agent: Option<&Path>,
    ) -> Result<(), CliError> {
        let not_text = || CliError::Failed(format!("the agent's path is not UTF-8: {}", library.display()));
        let library = library.to_str().ok_or_else(not_text)?;
        // The JVM takes the first `=` as the end of the path.
        if library.contains('=') {
            return Err(CliError::Failed(format!(
                "the agent's path contains '=', at which a JVM cuts it off: {library}"
            )));
        }
        let agent = format!("-agentpath:{library}={options}");
        let mut words = vec![agent];
        words.extend(java_agent.map(|jar| format!("-javaagent:{}", jar.display())));
        match self {
            Launcher::Java => {
                command.args(words);
            }
            Launcher::Build(_) | Launcher::Other => {
                let existing = env::var_os(TOOL_OPTIONS);
                let add = |value: Option<OsString>, word: &String| tool_options(value, word).map(Some);
                if let Some(value) = words.iter().try_fold(existing, add)? {
                    command.env(TOOL_OPTIONS, value);
                }
            }
        }
        command.args(arguments);
        Ok(())
    }
}

/// `JAVA_TOOL_OPTIONS` with the agent behind what is there already.
fn tool_options(existing: Option<OsString>, agent: &str) -> Result<OsString, CliError> {
    // The JVM splits at white space outside quotes, and has no escape for a line break.
    if agent.contains(['\n', '\r', '\0']) {
        return Err(CliError::Failed(
            "the agent's options contain a line break".to_owned(),
        ));
    }
    let mut value = existing.unwrap_or_default();
    if !value.is_empty() {
        value.push(" ");
    }
    value.push(quote(agent));
    Ok(value)
}

/// An option as the JVM's splitter reads it: quotes around what holds spaces; a quote of one kind goes into
/// quotes of the other.
fn quote(option: &str) -> String {
    if !option.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'') {
        return option.to_owned();
    }
    let mut out = String::new();
    for (index, part) in option.split('"').enumerate() {
        if index > 0 {
            out.push_str("'\"'");
        }
        if !part.is_empty() {
            out.push('"');
            out.push_str(part);
            out.push('"');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_is_known_by_its_name() {
        assert_eq!(Launcher::for_program(OsStr::new("java")), Launcher::Java);
        assert_eq!(
            Launcher::for_program(OsStr::new("/opt/jdk/bin/java")),
            Launcher::Java
        );
        assert_eq!(
            Launcher::for_program(OsStr::new("../mvnw")),
            Launcher::Build(BuildTool::Maven)
        );
        assert_eq!(Launcher::for_program(OsStr::new("javac")), Launcher::Other);
    }

    /// HotSpot's splitter: white space outside quotes separates, quotes vanish.
    fn split(text: &str) -> Vec<String> {
        let (mut words, mut word, mut open, mut any) = (Vec::new(), String::new(), None, false);
        for c in text.chars() {
            match open {
                Some(quote) if c == quote => open = None,
                Some(_) => word.push(c),
                None if c == '"' || c == '\'' => (open, any) = (Some(c), true),
                None if c.is_whitespace() => {
                    if any || !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                    }
                    any = false;
                }
                None => word.push(c),
            }
        }
        if any || !word.is_empty() {
            words.push(word);
        }
        words
    }

    #[test]
    fn quoting_survives_the_splitter() {
        for option in ["plain", "a b", "a\"b c", "it's here", "\"", "a'\"b\t'"] {
            assert_eq!(split(&quote(option)), [option], "{}", quote(option));
        }
    }

    #[test]
    fn what_is_there_stays_in_front() {
        let value = tool_options(Some("-Da=b".into()), "-agentpath:/a b=start").unwrap();
        assert_eq!(value, "-Da=b \"-agentpath:/a b=start\"");
        assert!(tool_options(None, "a\nb").is_err());
    }
}
