//! `trodden run --repeat`: several runs of a command, or of two in turn, for `trodden diff`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use super::{RunArgs, once};
use crate::error::CliError;
use crate::output;

/// Between two commands.
const VERSUS: &str = "--versus";
/// Files of one command, and of two.
const FILES: [&str; 2] = ["run-%n.trodden", "%c-%n.trodden"];
/// The values of `%c`.
const SIDES: [&str; 2] = ["before", "after"];

/// Runs the command, or both in turn, as often as asked for.
pub fn repeat(args: &RunArgs, times: u32) -> Result<ExitCode, CliError> {
    let commands: Vec<&[OsString]> = args.command.split(|word| word == VERSUS).collect();
    if commands.len() > SIDES.len() || commands.iter().any(|command| command.is_empty()) {
        return Err(CliError::Usage(format!(
            "error: --repeat runs one command, or two with {VERSUS} between them"
        )));
    }
    let pattern = with_number(args.output.as_deref().unwrap_or(FILES[commands.len() - 1]));
    if commands.len() == SIDES.len() && file_name(&pattern, 1, 0) == file_name(&pattern, 1, 1) {
        return Err(CliError::Usage(format!(
            "error: two commands need %c in -o, which is 'before' and 'after': {}",
            FILES[1]
        )));
    }
    for round in 1..=times {
        // Whatever grows or falls with time falls on both alike.
        let mut order: Vec<usize> = (0..commands.len()).collect();
        if round % 2 == 0 {
            order.reverse();
        }
        for side in order {
            let file = file_name(&pattern, round, side);
            if let Some(folder) = Path::new(&file).parent() {
                fs::create_dir_all(folder).map_err(|e| CliError::file(folder, e))?;
            }
            output::complain(&format!("run {round} of {times}: {file}"));
            let code = once(&RunArgs {
                profile: args.profile.with("quiet", "true"),
                output: Some(file.clone()),
                command: commands[side].to_vec(),
                repeat: None,
                ..args.clone()
            })?;
            // Different work cannot be compared, and an interrupt of one run is meant for all.
            if code != 0 {
                output::complain(&format!("the command ended with {code}, so it is not repeated"));
                return Ok(ExitCode::from(code));
            }
        }
    }
    if pattern.ends_with(".trodden") {
        output::complain(&format!("compare: {}", comparison(&pattern, commands.len())));
    }
    Ok(ExitCode::SUCCESS)
}

/// The command that compares what was written.
fn comparison(pattern: &str, commands: usize) -> String {
    let all = |side: usize| pattern.replace("%n", "*").replace("%c", SIDES[side]);
    if commands == SIDES.len() {
        format!("trodden diff {} -- {}", all(0), all(1))
    } else {
        format!("trodden diff {} -- OTHERS", all(0))
    }
}

/// With `%n` in front of the extension, if it has none.
fn with_number(pattern: &str) -> String {
    if placeholders(pattern).any(|(_, c)| c == 'n') {
        return pattern.to_owned();
    }
    let name = pattern.rfind('/').map_or(0, |at| at + 1);
    match pattern[name..].find('.').filter(|&at| at > 0) {
        Some(at) => format!("{}-%n{}", &pattern[..name + at], &pattern[name + at..]),
        None => format!("{pattern}-%n"),
    }
}

/// Where a pattern has a `%`, and the character behind it; `%%` is no placeholder.
fn placeholders(pattern: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + pattern.get(at..)?.find('%')?;
        let c = pattern[from + 1..].chars().next()?;
        at = from + 1 + c.len_utf8();
        Some((from, c))
    })
}

/// The file of a run: `%n` is its number, `%c` is `before` or `after`; the rest is as in `-o`.
fn file_name(pattern: &str, round: u32, side: usize) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (at, c) in placeholders(pattern) {
        let value = match c {
            'n' => round.to_string(),
            'c' => SIDES[side].to_owned(),
            _ => continue,
        };
        out += &pattern[from..at];
        out += &value;
        from = at + 2;
    }
    out + &pattern[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_number_and_a_side() {
        for (given, third) in [
            ("before-%n.trodden", "before-3.trodden"),
            ("runs/%c/%n.trodden", "runs/after/3.trodden"),
            ("a.b/page.speedscope.json", "a.b/page-3.speedscope.json"),
            ("plain", "plain-3"),
            (".hidden", ".hidden-3"),
            ("100%%n-%p", "100%%n-%p-3"),
            ("%c", "after-3"),
            ("%", "%-3"),
        ] {
            assert_eq!(file_name(&with_number(given), 3, 1), third, "{given}");
        }
        let [one, two] = FILES;
        assert_eq!(comparison(one, 1), "trodden diff run-*.trodden -- OTHERS");
        assert_eq!(
            comparison(two, 2),
            "trodden diff before-*.trodden -- after-*.trodden"
        );
    }
}
