//! Options about windows: what many JVMs write into spool folders, and which of them do.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

/// How long a draw of `fleet` holds: a day, which is one of UTC as Unix time counts it.
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Time between windows, where it was not said.
pub(super) const WINDOW: Duration = Duration::from_secs(60);

/// Options about windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetChoices {
    /// The folder that windows go to; `None`: there are none.
    pub spool: Option<String>,
    /// While the folder's files take more bytes than this, none is written.
    pub limit: u64,
    /// What is running; the main class or jar by default.
    pub service: Option<String>,
    /// Which build of it; by default the commit in the jar, or a hash of the class path.
    pub build: Option<String>,
    /// Where; the host's name by default.
    pub host: Option<String>,
    /// More words about the JVM.
    pub labels: BTreeMap<String, String>,
    /// Which share of all hosts records.
    pub fleet: Option<Fleet>,
    /// File with the key of windows' HMACs.
    pub hmac_key: Option<String>,
}

/// One host of many records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// One in that number of hosts.
    pub of: NonZeroU32,
    /// How long a draw holds, in whole seconds.
    pub holds: Duration,
}

impl Default for FleetChoices {
    fn default() -> Self {
        FleetChoices {
            spool: None,
            limit: 256 << 20,
            service: None,
            build: None,
            host: None,
            labels: BTreeMap::new(),
            fleet: None,
            hmac_key: None,
        }
    }
}

impl FleetChoices {
    /// The labels as one text: `region:eu+zone:a`, keys ascending. Empty if there are none.
    pub fn labels_text(&self) -> String {
        let labels = self.labels.iter().map(|(key, value)| format!("{key}:{value}"));
        labels.collect::<Vec<_>>().join("+")
    }
}
