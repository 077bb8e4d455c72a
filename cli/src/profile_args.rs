//! Profile options on the command line, from the table that the agent string's parser uses.

use std::time::Duration;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use trodden_profile::options::{
    self, Action, AgentCommand, FileFormat, GROUPS, Level, OptionEntry, OptionError, OptionGroup, Probe,
    ProfileOptions, option_named,
};

use crate::error::CliError;
use crate::output;

/// The flag that shows every option.
pub const HELP_ALL: &str = "help-all";

/// CPU time between samples, where it was not said.
const SAMPLE: &str = "2ms";
/// Time between dumps in production, where it was not said.
const PRODUCTION_DUMP: Duration = Duration::from_secs(60);

/// Names and values as given.
#[derive(Clone, Debug, Default)]
pub struct ProfileArgs {
    pairs: Vec<(&'static str, String)>,
}

impl ProfileArgs {
    /// The options.
    pub fn options(&self) -> Result<ProfileOptions, CliError> {
        let options = ProfileOptions::from_pairs(&self.pairs).map_err(|e| usage(&e))?;
        check_ending(&options)?;
        Ok(options)
    }

    /// The options of a replay.
    pub fn for_replay(&self) -> Result<ProfileOptions, CliError> {
        ProfileOptions::for_replay(&self.pairs).map_err(|e| usage(&e))
    }

    /// With the file that `-o` names.
    pub fn with_file(&self, file: Option<&str>) -> Self {
        let mut all = self.clone();
        all.pairs.extend(file.map(|file| ("file", file.to_owned())));
        all
    }

    /// With one more option.
    pub fn with(&self, name: &'static str, value: &str) -> Self {
        let mut all = self.clone();
        all.pairs.push((name, value.to_owned()));
        all
    }

    /// With samples of CPU time, unless options, those of a properties file too, say otherwise: other options
    /// may apply with samples only. In production there always are some.
    pub fn sampled(&self, production: Option<Production>) -> Result<Self, CliError> {
        let mut all = self.clone();
        let read = ProfileOptions::read_pairs(&self.pairs).map_err(|e| usage(&e))?;
        // A trace has no place for samples.
        let has_place = production.is_some() || read.output.file.format() != FileFormat::Trace;
        if !read.is_given("sample") && has_place {
            all.pairs.push(("sample", SAMPLE.to_owned()));
        }
        Ok(all)
    }

    /// The command to an agent with the options, but for those named in `ours`.
    pub fn command(&self, action: Action, ours: &[&str]) -> Result<AgentCommand, CliError> {
        let pairs = self.pairs.iter().filter(|(name, _)| !ours.contains(name));
        let pairs: Vec<(&str, &str)> = pairs.map(|(name, value)| (*name, &**value)).collect();
        let command = AgentCommand::from_pairs(action, &pairs).map_err(|e| usage(&e))?;
        check_ending(&command.options)?;
        Ok(command)
    }

    /// Names of all options that were given.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.pairs.iter().map(|&(name, _)| name)
    }

    /// True if this option was given.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The last value of an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.pairs.iter().filter(|(given, _)| *given == name);
        values.next_back().map(|(_, value)| &**value)
    }
}

fn check_ending(options: &ProfileOptions) -> Result<(), CliError> {
    let file = options.output.file.as_str();
    output::by_ending(file, &FileFormat::ENDINGS).map(drop)
}

/// The kind of profile in production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Production {
    /// CPU time, and nothing of the program is changed.
    Time,
    /// How paths begin as well, read from frames at safepoints: code updates a register, and that is all.
    Prefixes,
}

/// Sets options for production: nothing happens but sampling, or little, and the profile is written
/// every minute. Checks them, without it too.
///
/// # Errors
/// If they ask for what production excludes.
pub fn for_production(options: &mut ProfileOptions, production: Option<Production>) -> Result<(), CliError> {
    let Some(what) = production else {
        return options.check().map_err(|e| usage(&e));
    };
    if let Some(name) = ["probe", "profile"]
        .into_iter()
        .find(|name| options.is_given(name))
    {
        return Err(CliError::Usage(format!(
            "error: --production says what is profiled, so it goes without --{name}"
        )));
    }
    options.probe = match what {
        Production::Time => Probe::None,
        Production::Prefixes => Probe::Safepoint,
    };
    options.output.dump.get_or_insert(PRODUCTION_DUMP);
    options.check().map_err(|e| usage(&e))
}

/// Says that only bursts are counted, if nothing is given for them. A program that was `attached` to gives
/// no bursts of paths.
pub fn warn_of_bursts(options: &ProfileOptions, attached: bool) {
    if !options.bursts_unless_told() || attached && options.follows_steps() {
        return;
    }
    let what = if options.follows_steps() {
        "kpaths: paths"
    } else {
        "contexts: calls"
    };
    output::complain(&format!(
        "{what} are counted in bursts, so shares are estimates (--burst off counts all of them, and slows the program)"
    ));
}

/// An error of options, in the syntax of the command line.
fn usage(error: &OptionError) -> CliError {
    CliError::Usage(match error {
        OptionError::Inapplicable { name, scope, with } => format!(
            "error: --{name} is for {}; use it with {}, or leave it out",
            on_command_line(scope),
            on_command_line(&with.replace(',', " "))
        ),
        other => format!("error: {other}"),
    })
}

/// Turns each `name=value` into `--name value`.
fn on_command_line(text: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((name, value)) if option_named(name).is_some() => format!("--{name} {value}"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = text.split(' ').map(word).collect();
    words.join(" ")
}

fn argument(option: &'static OptionEntry, group: &'static OptionGroup) -> Arg {
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(help(option, group))
        .help_heading(group.heading)
        .action(ArgAction::Append)
        .value_parser(ValueParser::string())
        .value_name(option.value)
        .allow_hyphen_values(false);
    match option.name {
        "quiet" => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        _ => arg,
    }
}

/// One option's help: its meaning, where it applies, and its default.
fn help(option: &OptionEntry, group: &OptionGroup) -> String {
    let scope = option.scope().filter(|_| !says_scope(group));
    let scope = scope.map(|scope| format!(" (for {})", on_command_line(&scope)));
    let default = match option.default {
        "none" => String::new(),
        default => format!(" [default: {default}]"),
    };
    format!("{}{}{default}", option.help, scope.unwrap_or_default())
}

/// True if the group is of one kind of profile, as its heading says.
fn says_scope(group: &OptionGroup) -> bool {
    let scopes: Vec<String> = group.entries.iter().filter_map(OptionEntry::scope).collect();
    scopes.len() > 1 && scopes.windows(2).all(|two| two[0] == two[1])
}

impl Args for ProfileArgs {
    fn augment_args(command: Command) -> Command {
        command.args(GROUPS.iter().flat_map(|group| {
            let entries = group.entries.iter();
            entries.map(move |option| argument(option, group))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ProfileArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = ProfileArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.pairs.clear();
        for option in options::options() {
            let values = matches.get_many::<String>(option.name);
            let pairs = values.into_iter().flatten().map(|v| (option.name, v.clone()));
            self.pairs.extend(pairs);
        }
        Ok(())
    }
}

/// The help of a subcommand that records: the basic options, the names of the others by group, and those for
/// research only in `--help-all`. `own`: options of the subcommand itself that are shown there too.
pub fn short_help(command: Command, all: bool, own: &[&str]) -> Command {
    let command = hide(command, |option| !option.is_recorded());
    if all {
        return command;
    }
    let more = format!("{}\n\n{}", more_options(own), after_help(&command));
    let command = hide(command, |option| option.level != Level::Basic);
    let command = own.iter().fold(command, |command, name| {
        command.mut_arg(name, |arg| arg.hide(true))
    });
    command.after_help(more)
}

/// The command without the help of some options. They are taken, so that a message says where they belong.
fn hide(command: Command, hidden: impl Fn(&OptionEntry) -> bool) -> Command {
    let hidden = options::options().filter(|option| hidden(option));
    hidden.fold(command, |command, option| {
        command.mut_arg(option.name, |arg| arg.hide(true))
    })
}

/// Gives every command `--help-all`; it is listed where a plain `--help` leaves something out.
pub fn with_help_all(mut command: Command) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    for name in &names {
        command = command.mut_subcommand(name, with_help_all);
    }
    let hides = command.get_arguments().any(clap::Arg::is_hide_set) || !names.is_empty();
    command.arg(
        Arg::new(HELP_ALL)
            .long(HELP_ALL)
            .action(ArgAction::HelpLong)
            .hide(!hides)
            .help("Explain all options, those for research too"),
    )
}

/// The help of a replay: all options that it takes, and no other one.
pub fn replay_help(command: Command) -> Command {
    hide(command, |option| !option.is_replayed())
}

fn after_help(command: &Command) -> String {
    command
        .get_after_help()
        .map_or_else(String::new, ToString::to_string)
}

/// Names of the options that the help does not explain, by group.
fn more_options(own: &[&str]) -> String {
    let width = GROUPS.iter().map(|group| group.heading.len()).max().unwrap_or(0);
    let mut text = String::from("More options; --help-all explains them, and lists those for research:");
    let mut line = |heading: &str, names: &[&str]| {
        let mut column = usize::MAX;
        for name in names {
            if column.saturating_add(name.len() + 3) > 96 {
                let heading = if column == usize::MAX { heading } else { "" };
                text += &format!("\n  {heading:width$} ");
                column = width + 3;
            }
            text += &format!(" --{}", name.replace('_', "-"));
            column += name.len() + 3;
        }
    };
    line("This command", own);
    for group in GROUPS {
        let usual = group.entries.iter().filter(|option| option.level == Level::Usual);
        line(
            group.heading,
            &usual.map(|option| option.name).collect::<Vec<_>>(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_speak_the_language_of_the_command_line() {
        for (given, expected) in [
            (
                ("weight", "time"),
                "error: --weight is for --profile contexts; use it with --profile contexts, or leave it out",
            ),
            (
                ("k", "5"),
                "error: --k is for --profile kpaths; use it with --profile kpaths, or leave it out",
            ),
            (
                ("starts", "headers"),
                "error: option 'starts': 'headers' is research on event streams and taken by 'trodden replay' only",
            ),
        ] {
            let args = ProfileArgs {
                pairs: vec![(given.0, given.1.to_owned())],
            };
            let error = args.options().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
