//! The tools: a table, and the commands that answer them.

use std::process::{Command, Stdio};
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use serde_json::{Value, json};
use trodden_profile::{LoadError, Profile};

use super::answer::piece;
use super::methods::{branches_at, hot_methods};
use super::stacks::around;
use crate::folders::{Folders, FoundProfile, NotRead};

/// A question that an assistant may ask.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// When it is asked, and what the answer says.
    about: &'static str,
    parameters: &'static [Parameter],
    answer: fn(&Call) -> Result<String, Wrong>,
}

/// Something that is said with a question.
struct Parameter {
    name: &'static str,
    kind: Kind,
    required: bool,
    about: &'static str,
}

enum Kind {
    /// A file below the folders.
    File,
    Text,
    Number,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// A parameter is not there.
    #[error("'{0}' is missing: {1}")]
    Missing(&'static str, &'static str),
    /// A parameter is of another kind.
    #[error("'{0}' is no {1}")]
    Kind(&'static str, &'static str),
    /// A parameter is not known.
    #[error("there is no parameter '{0}' (there are: {1})")]
    Unknown(String, String),
    /// A file is not read.
    #[error(transparent)]
    NotRead(#[from] NotRead),
    /// The command said so.
    #[error("{0}")]
    Command(String),
    /// The command was not started.
    #[error("the command was not started: {0}")]
    Start(#[from] std::io::Error),
    /// The profile is broken.
    #[error(transparent)]
    Profile(#[from] LoadError),
    /// The pattern of methods is no pattern.
    #[error("{0}")]
    Pattern(String),
}

const fn file(name: &'static str, about: &'static str) -> Parameter {
    Parameter {
        name,
        kind: Kind::File,
        required: true,
        about,
    }
}

const fn text(name: &'static str, required: bool, about: &'static str) -> Parameter {
    Parameter {
        name,
        kind: Kind::Text,
        required,
        about,
    }
}

const PROFILE: Parameter = file("profile", "Profile (.trodden), as `profiles` lists them");
const METHOD: Parameter = text(
    "method",
    true,
    "Class#method with * and ?, or a class alone: shop.Order#price, *Parser#*",
);
const CURSOR: Parameter = Parameter {
    name: "cursor",
    kind: Kind::Number,
    required: false,
    about: "Line to continue with, as the answer before said",
};

/// All of them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "profiles",
        about: "Lists the profiles in the folders, newest first. The first question.",
        parameters: &[],
        answer: |call| Ok(profiles(call.folders)),
    },
    Tool {
        name: "overview",
        about: "What stands out in a profile: code that takes the time and why, hot methods with their hot paths.",
        parameters: &[PROFILE],
        answer: |call| call.run(&["report", &call.file("profile")?]),
    },
    Tool {
        name: "hot_methods",
        about: "All methods by own CPU time: share, share with callees, paths counted.",
        parameters: &[PROFILE],
        answer: |call| Ok(hot_methods(&call.profile()?)),
    },
    Tool {
        name: "method",
        about: "One method in full: paths by time or decisions, with conditions in the source's terms; branches with counts.",
        parameters: &[PROFILE, METHOD],
        answer: |call| call.run(&["report", &call.file("profile")?, "--method", call.text("method")?]),
    },
    Tool {
        name: "branch_at_line",
        about: "The branches and switches of a line: how often each outcome, and its share of the method's CPU time.",
        parameters: &[
            PROFILE,
            text("class", true, "Class, with package: shop.Order"),
            Parameter {
                name: "line",
                kind: Kind::Number,
                required: true,
                about: "Line of its source file",
            },
        ],
        answer: |call| {
            let line = call
                .number("line")?
                .ok_or(Wrong::Missing("line", "which line?"))?;
            branches_at(&call.profile()?, call.text("class")?, line)
        },
    },
    Tool {
        name: "callers_and_callees",
        about: "Who calls a method and what it calls, by CPU time.",
        parameters: &[PROFILE, text("method", true, "A part of its name: Order.price")],
        answer: |call| {
            let file = call.file("profile")?;
            let stacks = call.run(&[
                "report",
                &file,
                "--all",
                "--format",
                "collapsed",
                "--weight",
                "time",
            ])?;
            Ok(around(&stacks, call.text("method")?))
        },
    },
    Tool {
        name: "untested_outcomes",
        about: "Outcomes of branches that never ran, by class. With `diff` only those on lines that the change touches, each \
                with the nearest path that ran. Needs a profile of a run of the tests.",
        parameters: &[
            PROFILE,
            Parameter {
                name: "diff",
                kind: Kind::File,
                required: false,
                about: "The change, as `git diff` writes it",
            },
            text("include", false, "Only classes like this: shop.*"),
        ],
        answer: |call| {
            let mut words = vec!["coverage".to_owned(), call.file("profile")?];
            if call.is_given("diff") {
                words.extend(["--changed".to_owned(), call.file("diff")?]);
            }
            if call.is_given("include") {
                words.extend(["--include".to_owned(), call.text("include")?.to_owned()]);
            }
            call.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        },
    },
    Tool {
        name: "tests_for_line",
        about: "The tests that run a line. Needs a profile of `trodden gate record --keep`.",
        parameters: &[
            PROFILE,
            text("place", true, "FILE:LINE, as src/main/java/shop/Order.java:17"),
        ],
        answer: |call| {
            call.run(&[
                "coverage",
                &call.file("profile")?,
                "--tests-for",
                call.text("place")?,
            ])
        },
    },
    Tool {
        name: "tests_for_change",
        about: "The tests that a change may concern. Needs a profile of `trodden gate record --keep`.",
        parameters: &[PROFILE, file("diff", "The change, as `git diff` writes it")],
        answer: |call| call.run(&["tests", &call.file("profile")?, "--changed", &call.file("diff")?]),
    },
    Tool {
        name: "slow_requests",
        about: "What slow requests do differently from the others, and what it costs. Needs a profile with requests.",
        parameters: &[PROFILE],
        answer: |call| call.run(&["slow", &call.file("profile")?]),
    },
    Tool {
        name: "diff",
        about: "What changed between two profiles, each change with the branch that explains it; nothing that chance explains.",
        parameters: &[
            file("before", "The earlier profile (.trodden)"),
            file("after", "The later one"),
        ],
        answer: |call| call.run(&["diff", &call.file("before")?, &call.file("after")?]),
    },
    Tool {
        name: "gate",
        about: "The work of each test compared with an earlier build's, by files of `trodden gate record`.",
        parameters: &[
            file("base", "The file of the earlier build"),
            file("new", "The file of this one"),
        ],
        answer: |call| call.run(&["gate", "compare", &call.file("base")?, &call.file("new")?]),
    },
];

/// A tool as the protocol has it.
pub fn described(tool: &Tool) -> Described {
    let mut properties = JsonObject::new();
    let parameters = tool.parameters.iter().chain([&CURSOR]);
    for parameter in parameters {
        let kind = match parameter.kind {
            Kind::File | Kind::Text => "string",
            Kind::Number => "integer",
        };
        properties.insert(
            parameter.name.to_owned(),
            json!({ "type": kind, "description": parameter.about }),
        );
    }
    let required = tool.parameters.iter().filter(|parameter| parameter.required);
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert(
        "required".to_owned(),
        required.map(|parameter| parameter.name).collect(),
    );
    schema.insert("additionalProperties".to_owned(), false.into());
    Described::new(tool.name, tool.about, Arc::new(schema))
        .with_annotations(ToolAnnotations::new().read_only(true))
}

/// Answers a question.
///
/// # Errors
/// If the arguments are wrong, or the command fails.
pub fn answer(tool: &Tool, folders: &Folders, arguments: &JsonObject) -> Result<String, Wrong> {
    let is_known = |name: &str| {
        tool.parameters
            .iter()
            .chain([&CURSOR])
            .any(|parameter| parameter.name == name)
    };
    if let Some(unknown) = arguments.keys().find(|name| !is_known(name)) {
        let names: Vec<&str> = tool.parameters.iter().map(|parameter| parameter.name).collect();
        return Err(Wrong::Unknown(unknown.clone(), names.join(", ")));
    }
    let call = Call {
        tool,
        folders,
        arguments,
    };
    let from = call.number("cursor")?.unwrap_or(0);
    Ok(piece(
        &(tool.answer)(&call)?,
        usize::try_from(from).unwrap_or(usize::MAX),
    ))
}

/// A question with its parameters.
struct Call<'c> {
    tool: &'c Tool,
    folders: &'c Folders,
    arguments: &'c JsonObject,
}

impl Call<'_> {
    fn is_given(&self, name: &str) -> bool {
        self.arguments.get(name).is_some_and(|value| !value.is_null())
    }

    fn text(&self, name: &'static str) -> Result<&str, Wrong> {
        let Some(value) = self.arguments.get(name) else {
            let about = self
                .tool
                .parameters
                .iter()
                .find(|parameter| parameter.name == name);
            return Err(Wrong::Missing(
                name,
                about.map_or("", |parameter| parameter.about),
            ));
        };
        let text = value.as_str().ok_or(Wrong::Kind(name, "text"))?;
        // A word that begins so would be an option.
        if text.is_empty() || text.starts_with('-') {
            return Err(Wrong::Kind(name, "name"));
        }
        Ok(text)
    }

    /// The path of a file that may be read.
    fn file(&self, name: &'static str) -> Result<String, Wrong> {
        Ok(self.folders.find(self.text(name)?)?.display().to_string())
    }

    fn number(&self, name: &'static str) -> Result<Option<u64>, Wrong> {
        match self.arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(Wrong::Kind(name, "number")),
        }
    }

    /// The text that a command of this program writes.
    fn run(&self, words: &[&str]) -> Result<String, Wrong> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words).env("NO_COLOR", "1").stdin(Stdio::null());
        // Sources are looked for where the first folder is.
        if let Some(folder) = self.folders.iter().next() {
            command.current_dir(folder);
        }
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        // A broken check is an answer.
        if !output.status.success() && output.status.code() != Some(3) {
            return Err(Wrong::Command(said.trim().to_owned()));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(if said.trim().is_empty() {
            text
        } else {
            format!("{}\n{text}", said.trim_end())
        })
    }

    /// The profile.
    fn profile(&self) -> Result<Profile, Wrong> {
        Ok(Profile::load(&self.file("profile")?)?.into_printable())
    }
}

/// Profiles in the folders, newest first.
fn profiles(folders: &Folders) -> String {
    let found = folders.profiles();
    if found.is_empty() {
        return "no .trodden file is in the folders: trodden run -o app.trodden -- java … makes one\n"
            .to_owned();
    }
    let line =
        |found: &FoundProfile| format!("{} ({} kB)\n", found.path.display(), found.bytes.div_ceil(1000));
    found.iter().map(line).collect()
}
