//! Signals that end a session of ours in good order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CliError;

/// From now on SIGINT, SIGTERM, SIGHUP and `more` set the flag, and do nothing else.
pub fn flag(more: &[i32]) -> Result<Arc<AtomicBool>, CliError> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP].iter().chain(more) {
        signal_hook::flag::register(*signal, Arc::clone(&flag))
            .map_err(|e| CliError::Failed(format!("cannot install signal handlers: {e}")))?;
    }
    Ok(flag)
}
