//! Include patterns that match no class in any of the JVMs that a command started.

use std::collections::BTreeSet;
use std::path::PathBuf;

use trodden_profile::{Profile, facts};

use crate::output;

/// Patterns without a class in one JVM, and names that are like them.
#[derive(Default)]
struct Unmatched {
    patterns: BTreeSet<String>,
    near: BTreeSet<String>,
}

/// Warns of patterns that matched no class, with near names. The agents noted those of each JVM.
pub fn warn(include: &[String], written: &[PathBuf]) {
    if include.is_empty() {
        return;
    }
    let profiles = written.iter().filter_map(|file| Profile::load(file).ok());
    let jvms: Vec<Unmatched> = profiles.map(|profile| unmatched(&profile)).collect();
    if let Some(message) = message(&jvms) {
        output::complain(&format!("warning: {message}"));
    }
}

fn unmatched(profile: &Profile) -> Unmatched {
    let list = |fact: facts::Fact<String>| {
        let names = profile.run.facts.get(fact);
        let names = names.iter().flat_map(|names| names.split('+'));
        names.map(str::to_owned).collect()
    };
    Unmatched {
        patterns: list(facts::UNMATCHED_INCLUDE),
        near: list(facts::NEAR_NAMES),
    }
}

/// The message about patterns that matched in none of the JVMs.
fn message(jvms: &[Unmatched]) -> Option<String> {
    let patterns = jvms.iter().map(|jvm| jvm.patterns.clone());
    let patterns = patterns.reduce(|a, b| a.intersection(&b).cloned().collect())?;
    if patterns.is_empty() {
        return None;
    }
    let near: BTreeSet<&str> = jvms
        .iter()
        .flat_map(|jvm| &jvm.near)
        .map(String::as_str)
        .collect();
    let near = if near.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", Vec::from_iter(near).join(" or "))
    };
    let patterns = Vec::from_iter(patterns).join("+");
    Some(format!(
        "--include {patterns} matches no class of the {} JVMs{near}",
        jvms.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jvm(patterns: &[&str], near: &[&str]) -> Unmatched {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Unmatched {
            patterns: set(patterns),
            near: set(near),
        }
    }

    #[test]
    fn one_jvm_with_the_class_is_enough() {
        let tool = jvm(&["com.acme.*", "com.acne.*"], &["org.acme.*"]);
        let tests = jvm(&["com.acne.*"], &["com.acme.*"]);
        assert_eq!(
            message(&[tool, tests]).unwrap(),
            "--include com.acne.* matches no class of the 2 JVMs; did you mean com.acme.* or org.acme.*?"
        );
        assert_eq!(message(&[jvm(&["a.*"], &[]), jvm(&[], &[])]), None);
        assert_eq!(message(&[]), None);
    }
}
