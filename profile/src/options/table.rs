//! The table of all options, by group.

use super::entries::{basics, burst, code, contexts, fleet, kpaths, output, sampling, structural, subpaths};
use super::entry::{Level, OptionEntry};

/// Options that belong together.
#[derive(Clone, Copy, Debug)]
pub struct OptionGroup {
    /// Their subject, as a heading of the help.
    pub heading: &'static str,
    /// The options, in the order in which they are shown.
    pub entries: &'static [OptionEntry],
}

/// All options, in the order in which they are shown.
pub const GROUPS: &[OptionGroup] = &[
    OptionGroup {
        heading: "What is profiled",
        entries: basics::ENTRIES,
    },
    OptionGroup {
        heading: "Output and messages",
        entries: output::ENTRIES,
    },
    OptionGroup {
        heading: "Fleet",
        entries: fleet::ENTRIES,
    },
    OptionGroup {
        heading: "Probes in the code",
        entries: code::ENTRIES,
    },
    OptionGroup {
        heading: "Sampling",
        entries: sampling::ENTRIES,
    },
    OptionGroup {
        heading: "k-iteration paths",
        entries: kpaths::ENTRIES,
    },
    OptionGroup {
        heading: "Calling contexts",
        entries: contexts::ENTRIES,
    },
    OptionGroup {
        heading: "Event streams",
        entries: burst::ENTRIES,
    },
    OptionGroup {
        heading: "Subpaths",
        entries: subpaths::ENTRIES,
    },
    OptionGroup {
        heading: "Structural profiles",
        entries: structural::ENTRIES,
    },
    OptionGroup {
        heading: "Subpaths, in replays only",
        entries: subpaths::RESEARCH_ENTRIES,
    },
];

/// All options, in the order in which they are shown.
pub fn options() -> impl Iterator<Item = &'static OptionEntry> + Clone {
    GROUPS.iter().flat_map(|group| group.entries)
}

/// The entry of a name as the command line has it: with hyphens.
pub fn option_named(name: &str) -> Option<&'static OptionEntry> {
    options().find(|option| option.is_named(name, false))
}

/// The entry of a name as the agent string may have it: underscores are hyphens.
pub(super) fn option_called(name: &str) -> Option<&'static OptionEntry> {
    options().find(|option| option.is_named(name, true))
}

/// The tables of `docs/agent-options.md`: one per group.
pub fn markdown() -> String {
    let mut text = String::new();
    for group in GROUPS {
        text += &format!("### {}\n", group.heading);
        text += "| name | values | default | for | meaning |\n| --- | --- | --- | --- | --- |\n";
        for option in group.entries {
            let bars = |words: &str| words.replace('|', "\\|");
            let scope = option.scope().unwrap_or_else(|| "all".to_owned());
            let mut help = option.help.to_owned();
            if option.level == Level::Research {
                help += " (research)";
            }
            text += &format!(
                "| `{}` | `{}` | {} | {scope} | {} |\n",
                option.name,
                bars(option.value),
                bars(option.default),
                bars(&help)
            );
        }
        text.push('\n');
    }
    text
}
