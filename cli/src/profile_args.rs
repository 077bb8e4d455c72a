//! Profile options on the command line, taken from the table that the agent string's parser uses.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use trodden_profile::options::{OPTIONS, OptionError, OptionName, ProfileOptions};

use crate::error::CliError;

/// Names and values as given.
#[derive(Clone, Debug, Default)]
pub struct ProfileArgs {
    pairs: Vec<(&'static str, String)>,
}

impl ProfileArgs {
    /// The options.
    pub fn options(&self) -> Result<ProfileOptions, CliError> {
        let wrong = |e: OptionError| CliError::Usage(format!("error: {e}"));
        ProfileOptions::from_pairs(&self.pairs).map_err(wrong)
    }

    /// Names of all options that were given.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.pairs.iter().map(|&(name, _)| name)
    }

    /// Was this option given?
    pub fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(given, _)| *given == name)
    }
}

fn argument(option: &'static OptionName) -> Arg {
    let help = format!("{} [default: {}]", option.help, option.default);
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(help)
        .help_heading("Profile options")
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

impl Args for ProfileArgs {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().map(argument))
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
        for option in OPTIONS {
            let values = matches.get_many::<String>(option.name);
            let pairs = values.into_iter().flatten().map(|v| (option.name, v.clone()));
            self.pairs.extend(pairs);
        }
        Ok(())
    }
}
