//! `trodden ship`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use trodden_profile::options::parse_duration;
use trodden_profile::spool::Key;

use super::output::say as say_line;
use crate::error::StoreError;
use crate::place::Place;
use crate::ship::{ShipError, ShipOptions, StoreSink, ship as run};
use crate::words::several;

/// Moves windows from a spool folder into a store, until it is stopped.
///
/// A window is deleted once it is in the store. What cannot be delivered stays, and is tried again; what
/// arrives twice counts once. SIGTERM and Ctrl-C end it after the delivery in progress.
#[derive(Args)]
pub struct ShipArgs {
    /// The folder that JVMs write windows to (their option `spool`).
    #[arg(long, value_name = "SPOOL")]
    from: PathBuf,
    /// The store.
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Make the store if there is none.
    #[arg(long)]
    create: bool,
    /// End when the folder is empty.
    #[arg(long)]
    once: bool,
    /// Time between two looks at the folder.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    every: Duration,
    /// Most windows in one delivery.
    #[arg(long, value_name = "N", default_value = "500", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
    /// A file with the key of the windows' HMACs (the agent's option `hmac-key`): others are not shipped.
    #[arg(long, value_name = "FILE")]
    hmac_key: Option<PathBuf>,
    /// With --once: failures after which it gives up.
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..))]
    attempts: u32,
    /// The longest pause after failures.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_duration)]
    longest_pause: Duration,
    /// Say nothing but errors.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) async fn ship(args: &ShipArgs) -> Result<ExitCode, StoreError> {
    let place = Place::parse(&args.to)?;
    let mut options = ShipOptions::new(args.from.clone());
    options.once = args.once;
    options.every = args.every;
    options.batch = args.batch as usize;
    options.attempts = args.attempts;
    options.pauses = (options.pauses.0.min(args.longest_pause), args.longest_pause);
    options.key = match &args.hmac_key {
        Some(file) => Some(Key::read(file).map_err(|e| StoreError::Usage(e.to_string()))?),
        None => None,
    };
    let mut sink = StoreSink::new(place, args.create);
    let quiet = args.quiet;
    let say = |line: &str| {
        if !quiet {
            say_line(&format!("trodden: {line}"));
        }
    };
    let shipped = run(&options, &mut sink, stopped(), say).await.map_err(failed)?;
    if !quiet {
        let more = |count: u64, what: &str| match count {
            0 => String::new(),
            _ => format!(", {count} {what}"),
        };
        say_line(&format!(
            "trodden: {} shipped to {}{}{}",
            several(shipped.added, "window"),
            args.to,
            more(shipped.known, "there already"),
            more(shipped.rejected, "put aside in 'rejected'")
        ));
    }
    Ok(match shipped.rejected {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn failed(error: ShipError) -> StoreError {
    match error {
        ShipError::Store(error) => *error,
        ShipError::Busy(_) => StoreError::Usage(error.to_string()),
        _ => StoreError::Ship(error.to_string()),
    }
}

/// Becomes true at SIGTERM and SIGINT.
fn stopped() -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        // Where signals cannot be heard they end the process at once, which loses nothing either.
        if let Ok(mut signal) = signal(kind) {
            let stop = stop.clone();
            tokio::spawn(async move {
                if signal.recv().await.is_some() {
                    let _ = stop.send(true);
                }
            });
        }
    }
    // Without a receiver it must not look as if the sender had hung up.
    tokio::spawn(async move { stop.closed().await });
    stopped
}
