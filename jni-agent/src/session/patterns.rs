//! Include patterns that match no class: found when a profile is written, and reported with near names.
//!
//! *In*: the patterns, and the classes of the JVM. *Out*: a warning, and facts of the run, which `trodden
//! run` reads where a command starts several JVMs.

use std::collections::HashSet;

use trodden_instrumenter::Filter;
use trodden_profile::options::near_patterns;
use trodden_profile::{RunInfo, facts};

use crate::classes::Registry;
use crate::jvm::{Jni, Jvmti};
use crate::log::warning;

/// Include patterns that match no class of this JVM.
pub struct Unmatched {
    /// The patterns.
    pub patterns: Vec<String>,
    /// Near names, of all patterns.
    pub near: Vec<String>,
    /// Classes that were looked at.
    classes: usize,
}

impl Unmatched {
    /// Looks for them. Nearly free where every pattern matches a class that was instrumented.
    pub fn find(include: &[String], registry: &Registry, jvmti: Jvmti, jni: Jni<'_>) -> Option<Unmatched> {
        let mut names = registry.names();
        let left_alone = registry.left_alone.list().into_iter();
        names.extend(left_alone.map(|skipped| skipped.class));
        let unmatched = |names: &HashSet<String>| -> Vec<String> {
            let without = include.iter().filter(|pattern| !matches(pattern, names));
            without.cloned().collect()
        };
        if unmatched(&names).is_empty() {
            return None;
        }
        // Classes without anything to instrument are classes, too.
        let _frame = jni.frame(1024).ok()?;
        for class in jvmti.loaded_classes().unwrap_or_default() {
            if let Ok(Some(name)) = jvmti.class_name(class) {
                names.insert(name);
            }
        }
        let patterns = unmatched(&names);
        if patterns.is_empty() {
            return None;
        }
        let everything = Filter::default();
        let own = names.iter().map(String::as_str);
        let own: Vec<&str> = own.filter(|name| everything.class(name)).collect();
        let mut near = Vec::new();
        for pattern in &patterns {
            for name in near_patterns(pattern, own.iter().copied()) {
                if !near.contains(&name) {
                    near.push(name);
                }
            }
        }
        Some(Unmatched {
            patterns,
            near,
            classes: own.len(),
        })
    }

    /// Writes them into the facts of a run: `unmatched_include`, and `near_names` if some are near.
    pub fn note(unmatched: Option<&Unmatched>, run: &mut RunInfo) {
        let Some(Unmatched { patterns, near, .. }) = unmatched else {
            return;
        };
        run.facts.set(facts::UNMATCHED_INCLUDE, patterns.join("+"));
        if !near.is_empty() {
            run.facts.set(facts::NEAR_NAMES, near.join("+"));
        }
    }

    /// Warns of them. Not in a JVM that got the agent through the environment: it may be a build tool, whose
    /// tests run in another one.
    pub fn warn(&self) {
        let inherited = std::env::var("JAVA_TOOL_OPTIONS").is_ok_and(|value| value.contains("-agentpath:"));
        if inherited {
            return;
        }
        let near = match self.near.as_slice() {
            [] => String::new(),
            near => format!("; did you mean {}?", near.join(" or ")),
        };
        warning!(
            "include={} matches none of the {} classes outside the JDK{near}",
            self.patterns.join("+"),
            self.classes
        );
    }
}

fn matches(pattern: &str, names: &HashSet<String>) -> bool {
    // Patterns were understood when profiling began.
    let Ok(filter) = Filter::new(&[pattern], &[]) else {
        return true;
    };
    names.iter().any(|name| filter.class(name))
}
