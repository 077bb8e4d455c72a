//! Work at each tick of the clock: the recorder's part, and periodic dumps.

use std::sync::Arc;
use std::time::Instant;

use crate::jvm::Jni;
use crate::log::error;
use crate::recorders::OnTick;
use crate::sampling::clock::{Signal, Tick};
use crate::session::agent::Agent;
use crate::session::{dump, spool};
use crate::settings::Settings;

/// What the clock's thread does at each tick.
pub struct Ticker {
    agent: &'static Agent,
    settings: Arc<Settings>,
    recorder: Box<dyn OnTick>,
    next_dump: Option<Instant>,
}

impl Ticker {
    /// For a profile that begins.
    pub fn new(agent: &'static Agent, settings: &Arc<Settings>, recorder: Box<dyn OnTick>) -> Self {
        Ticker {
            agent,
            settings: Arc::clone(settings),
            recorder,
            next_dump: settings.options.dump_every().map(|every| Instant::now() + every),
        }
    }

    /// Returns whether to go on.
    pub fn tick(&mut self, jni: Jni<'_>, tick: Tick, signal: &Signal) -> bool {
        if let Err(e) = self.recorder.tick(jni, tick, signal) {
            error!("sampling stops: {e}");
            return false;
        }
        if self.next_dump.is_some_and(|at| Instant::now() >= at) {
            let every = self.settings.options.dump_every();
            self.next_dump = every.map(|every| Instant::now() + every);
            // A command under way (maybe stopping this very clock) dumps itself or does not want one now.
            if let Some(mut control) = self.agent.try_control()
                && spool::turn(self.agent, jni, &mut control).is_none()
                && let Err(e) = dump::dump(self.agent, jni, &control, None, control.running())
            {
                error!("{e}");
            }
        }
        true
    }
}
