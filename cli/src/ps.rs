//! `trodden ps`: the JVMs that can be attached to.

use std::fmt::Write as _;

use clap::Args;
use trodden_profile::printable_lines;

use crate::attach::jvms;
use crate::attach::target::user_name;
use crate::error::CliError;
use crate::output;

/// Lists the JVMs that run here: process id, user, JDK, whether Trodden is in it, main class or jar
#[derive(Args)]
pub struct PsArgs {}

/// Lists them.
pub fn ps(_: &PsArgs) -> Result<(), CliError> {
    let (jvms, others) = jvms::all();
    let mut text = String::new();
    if !jvms.is_empty() {
        let _ = writeln!(
            text,
            "{:>8}  {:>8}  {:<10}  {:<8}  MAIN",
            "PID", "USER", "JDK", "TRODDEN"
        );
    }
    for jvm in &jvms {
        let target = &jvm.target;
        let _ = writeln!(
            text,
            "{:>8}  {:>8}  {:<10}  {:<8}  {}",
            target.pid,
            user_name(target.uid).unwrap_or_else(|| target.uid.to_string()),
            target.java_version().unwrap_or_else(|| "?".to_owned()),
            if target.agent.is_some() { "loaded" } else { "-" },
            if jvm.main.is_empty() { "?" } else { &jvm.main }
        );
    }
    output::write(None, printable_lines(&text).as_bytes())?;
    if jvms.is_empty() {
        output::complain("no JVM runs here that this user may attach to");
    }
    if !others.is_empty() {
        let (number, what) = match others.len() {
            1 => (1, "JVM of another user is"),
            n => (n, "JVMs of other users are"),
        };
        output::complain(&format!("{number} {what} not listed; root sees all"));
    }
    Ok(())
}
