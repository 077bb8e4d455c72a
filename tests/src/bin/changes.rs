//! `trodden diff` on pairs of runs without a change and with planted ones; see `trodden_tests::changes`.

use clap::Parser;
use trodden_tests::Result;
use trodden_tests::changes::{CHANGED, Recorder, SAME};
use trodden_tests::jdk::Jdk;

/// Compares 20 pairs of runs without a change and 12 with a planted one, on the oldest and the newest JDK.
#[derive(Parser)]
struct Arguments {
    /// With other load on the machine during all runs.
    #[arg(long)]
    busy: bool,
    /// Only the JDK of this feature version.
    #[arg(long)]
    jdk: Option<u32>,
    /// Show what diff says of each pair that is not as it should be.
    #[arg(long)]
    verbose: bool,
    /// Only pairs with a number from this one on; the changed ones follow those without a change.
    #[arg(long, default_value_t = 1)]
    from: usize,
    /// Keep the profiles in this folder, for another look at them.
    #[arg(long)]
    keep: Option<std::path::PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    for jdk in Jdk::both()? {
        if arguments.jdk.is_some_and(|wanted| wanted != jdk.feature) {
            continue;
        }
        let temporary = tempfile::tempdir()?;
        let folder = arguments.keep.as_deref().unwrap_or(temporary.path());
        let mut recorder = Recorder::new(&jdk, folder, arguments.busy);
        let (mut wrong, mut named) = (0, 0);
        for (number, (program, difference)) in (1..).zip(SAME) {
            if number < arguments.from {
                continue;
            }
            let pair = recorder.pair(program, &format!("same-{number}"), difference)?;
            let (found, text) = Recorder::findings(&pair)?;
            wrong += found.len();
            println!(
                "JDK {} same {number} {} {}: {found:?}",
                jdk.feature,
                program.name,
                difference.word()
            );
            if arguments.verbose && !found.is_empty() {
                println!("{text}");
            }
        }
        for (number, planted) in (SAME.len() + 1..).zip(CHANGED) {
            if number < arguments.from {
                continue;
            }
            let pair = recorder.planted(planted, &format!("changed-{number}"))?;
            let (found, text) = Recorder::findings(&pair)?;
            let is_named = planted.is_named(&found);
            named += usize::from(is_named);
            let word = if is_named { "named" } else { "MISSED" };
            println!(
                "JDK {} changed {number} {}: {word} {found:?}",
                jdk.feature, planted.what
            );
            if arguments.verbose && !is_named {
                println!("{text}");
            }
        }
        println!(
            "JDK {}: {wrong} findings in pairs without a change, {named} of {} changes named in the first two",
            jdk.feature,
            CHANGED.len()
        );
    }
    Ok(())
}
