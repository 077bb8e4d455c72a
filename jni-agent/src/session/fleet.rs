//! One host of many records: drawn when profiling is asked for, and again when the day changes.

use std::time::{Duration, SystemTime};

use trodden_profile::options::ProfileOptions;
use trodden_profile::spool::identity::Draw;

use crate::jvm::Jni;
use crate::log::{error, info, warning};
use crate::recorders::UnderWay;
use crate::session::agent::Agent;
use crate::session::{control, spool};

/// Name of the thread that waits, as debuggers show it.
const THREAD_NAME: &str = "Trodden fleet";
/// Longest time to sleep at once: the system's clock may be set, and a computer may have slept.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// The draw that the options ask for.
pub fn draw_of(options: &ProfileOptions) -> Option<Draw> {
    let fleet = options.fleet.fleet.filter(|_| options.spools())?;
    Some(Draw {
        host: spool::host(options),
        of: fleet.of,
        holds: fleet.holds,
    })
}

/// True if this JVM records now, by the options.
pub fn is_drawn(options: &ProfileOptions) -> bool {
    draw_of(options).is_none_or(|draw| draw.is_drawn(SystemTime::now()))
}

/// Draws again whenever a draw ends, and starts or stops profiling accordingly, for as long as no other
/// command does. The thread is none of the JVM's until then, and sleeps in the kernel.
///
/// # Errors
/// If the operating system gives no thread.
pub fn watch(
    agent: &'static Agent,
    draw: Draw,
    options: ProfileOptions,
    command: u64,
) -> std::io::Result<()> {
    Agent::spawn(THREAD_NAME, move || {
        loop {
            let rest = draw.rest(SystemTime::now());
            std::thread::sleep(rest.min(MAX_SLEEP));
            let drawn = draw.is_drawn(SystemTime::now());
            {
                let control = agent.control();
                if control.ended || control.drawn.command != command {
                    return;
                }
                if control.drawn.yes == drawn {
                    continue;
                }
            }
            agent.attached(THREAD_NAME, |agent, jni| {
                turn(agent, jni, &options, drawn, command)
            });
        }
    })
}

fn turn(agent: &'static Agent, jni: Jni<'_>, options: &ProfileOptions, drawn: bool, command: u64) {
    let mut control = agent.control();
    if control.ended || control.drawn.command != command {
        return;
    }
    // Whether it works or not: the next try comes with the next draw.
    control.drawn.yes = drawn;
    if drawn {
        match control::begin(agent, jni, &mut control, options.clone()) {
            Ok(_) => info!("this host is drawn now: profiling begins"),
            Err(e) => error!("this host is drawn now, but profiling does not begin: {e}"),
        }
    } else if control.running() {
        agent.stop(jni, &mut control);
        match spool::finish(agent, jni, &mut control, None, UnderWay::Died) {
            Ok(_) => info!("this host is not drawn any more: profiling has stopped"),
            Err(e) => warning!("this host is not drawn any more: profiling has stopped; {e}"),
        }
    }
}
