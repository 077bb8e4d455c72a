//! The analysis that does nothing: what the stream itself costs.

use std::hint::black_box;

use trodden_profile::Profile;
use trodden_profile::events::{EventKinds, ThreadInfo};

use super::{StreamAnalysis, StreamError};
use crate::MethodPlaces;

/// Reads every word and forgets it, while probes write the kinds of events that it is made with.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullStream(pub EventKinds);

impl StreamAnalysis for NullStream {
    type Thread = ();
    type Result = ();

    fn needs(&self) -> EventKinds {
        self.0
    }

    fn thread(&self, _: &ThreadInfo) {}

    fn consume(&self, _: &mut (), words: &[u64]) {
        for &word in words {
            black_box(word);
        }
    }

    fn reset(&self, _: &mut ()) {}

    fn result(&self) {}

    fn add(&self, _: &mut (), _: &()) -> Result<(), StreamError> {
        Ok(())
    }

    fn write(&self, _: &(), _: &MethodPlaces, _: &mut Profile) -> Result<(), StreamError> {
        Ok(())
    }
}
