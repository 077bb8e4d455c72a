//! `trodden check`: thresholds for CI.

mod rule;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trodden_insight::coverage::{Counters, Coverage, MethodCoverage, Ratio};
use trodden_insight::pattern::MethodPattern;
use trodden_profile::{Profile, printable};

use crate::coverage::{CoverageArgs, Wanted};
use crate::error::{BROKEN, CliError};
use crate::output;
use rule::{Counter, Each, Rule};

/// Maximum number of offenders that are listed for one rule.
const MAX_LISTED: usize = 20;

/// Checks what ran against rules; ends with 3 if one is broken.
#[derive(Args)]
pub struct CheckArgs {
    /// Profile (.trodden), exactly counted.
    file: PathBuf,
    /// Rules, one a line or separated by semicolons, such as "lines >= 80%" or "each class in a.*: missed
    /// paths <= 9";
    /// @FILE reads them from a file. May be repeated.
    #[arg(long, value_name = "RULES", required = true)]
    rules: Vec<String>,
    #[command(flatten)]
    coverage: CoverageArgs,
}

/// Runs `trodden check`.
pub fn check(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let mut rules = Vec::new();
    for text in &args.rules {
        let text = match text.strip_prefix('@') {
            Some(file) => fs::read_to_string(file).map_err(|e| CliError::file(file.as_ref(), e))?,
            None => text.clone(),
        };
        rules.extend(rule::parse(&text).map_err(|e| CliError::Usage(format!("error: {e}")))?);
    }
    if rules.is_empty() {
        return Err(CliError::Usage("error: --rules holds no rule".to_owned()));
    }
    let profile = Profile::load(&args.file).map_err(CliError::failed)?;
    let counts = |counter: Counter| rules.iter().any(|rule| rule.counter == counter);
    let wanted = Wanted {
        mcdc: counts(Counter::Mcdc),
        prime_paths: counts(Counter::PrimePaths),
    };
    let known = args.coverage.known()?;
    let coverage = args
        .coverage
        .with_classes(&args.file, &profile, (None, wanted), &[], known.as_deref())?;
    let mut out = String::new();
    let mut broken = 0;
    for rule in &rules {
        let offenders = judge(rule, &coverage)?;
        broken += usize::from(!offenders.is_empty());
        let verdict = if offenders.is_empty() { "kept" } else { "BROKEN" };
        out.push_str(&format!("{verdict:<6}  {rule}\n"));
        for text in offenders.iter().take(MAX_LISTED) {
            out.push_str(&format!("        {text}\n"));
        }
        if offenders.len() > MAX_LISTED {
            out.push_str(&format!("        and {} more\n", offenders.len() - MAX_LISTED));
        }
    }
    output::write(None, out.as_bytes())?;
    match broken {
        0 => Ok(ExitCode::SUCCESS),
        n => {
            output::complain(&format!("{n} of {} rules broken", rules.len()));
            Ok(ExitCode::from(BROKEN))
        }
    }
}

/// Descriptions of the violations of a rule.
fn judge(rule: &Rule, coverage: &Coverage) -> Result<Vec<String>, CliError> {
    let pattern = rule.pattern.as_deref().map(MethodPattern::new).transpose();
    let pattern = pattern.map_err(|e| CliError::Usage(format!("error: {e}")))?;
    if rule.counter == Counter::Paths && !coverage.has_paths {
        let what = format!(
            "rule '{rule}': the profile does not say which paths ran (profile=coverage); probe=counters does"
        );
        return Err(CliError::Failed(what));
    }
    if rule.counter == Counter::PrimePaths
        && let Some((unknown, needs)) = coverage.unknown_prime_paths()
    {
        let what = format!(
            "rule '{rule}': of {unknown} prime paths it is not known whether they ran, since they continue where loops begin \
             again; a profile of --profile kpaths --burst off --k {needs} tells"
        );
        return Err(CliError::Failed(what));
    }
    let mut groups: BTreeMap<String, Vec<&MethodCoverage>> = BTreeMap::new();
    for method in &coverage.methods {
        let map = method.map();
        let chosen = |p: &MethodPattern| p.matches(method.class(), &map.name, &map.descriptor);
        if pattern.as_ref().is_none_or(chosen) {
            groups.entry(group(rule.each, method)).or_default().push(method);
        }
    }
    if groups.is_empty() {
        let what = format!("rule '{rule}': there is nothing that it speaks of");
        return Err(CliError::Failed(what));
    }
    let mut offenders = Vec::new();
    for (name, methods) in groups {
        let ratio = ratio(rule.counter, &Counters::of(methods, coverage.options.cap));
        if !rule.holds(ratio) {
            let share = ratio.share().unwrap_or(1.0) * 100.0;
            let (covered, total) = (ratio.covered, ratio.total);
            let name = printable(&name);
            offenders.push(format!(
                "{name}: {covered} of {total} {} ({share:.1} %)",
                rule.counter
            ));
        }
    }
    Ok(offenders)
}

/// The name of the group that a method is judged with.
fn group(each: Each, method: &MethodCoverage) -> String {
    let class = method.class().replace('/', ".");
    match each {
        Each::All => "all".to_owned(),
        Each::Package => class
            .rsplit_once('.')
            .map_or("", |(package, _)| package)
            .to_owned(),
        Each::Class => class,
        Each::Method => format!("{class}#{}{}", method.map().name, method.map().descriptor),
    }
}

fn ratio(counter: Counter, counters: &Counters) -> Ratio {
    match counter {
        Counter::Paths => counters.paths,
        Counter::Branches => counters.branches,
        Counter::Lines => counters.lines,
        Counter::Methods => counters.methods,
        Counter::Classes => counters.classes,
        Counter::Mcdc => counters.mcdc,
        Counter::PrimePaths => counters.prime_paths,
    }
}
