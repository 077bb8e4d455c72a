//! The store as the place where windows go.

use std::path::PathBuf;
use std::time::Duration;

use super::{Arrived, Sink, SinkError};
use crate::add::{AddOptions, Adder};
use crate::error::StoreError;
use crate::place::Place;
use crate::store::Store;

/// Time between two publications, of all who ship into a store together.
const PUBLISHED_EVERY: Duration = Duration::from_secs(60);

/// A store that is opened when it is first needed: it may be out of reach when shipping begins.
pub struct StoreSink {
    place: Place,
    create: bool,
    adder: Option<Adder>,
    /// The store, if windows came in and other engines do not see them yet.
    unpublished: Option<Store>,
}

impl StoreSink {
    /// At a place. `create`: make the store if there is none.
    pub fn new(place: Place, create: bool) -> Self {
        StoreSink {
            place,
            create,
            adder: None,
            unpublished: None,
        }
    }

    async fn try_add(&mut self, windows: &[PathBuf]) -> Result<Arrived, StoreError> {
        let mut adder = match self.adder.take() {
            Some(adder) => adder,
            None => {
                let store = if self.create {
                    Store::create(&self.place).await?
                } else {
                    Store::open(&self.place).await?
                };
                Adder::new(&store)
            }
        };
        let options = AddOptions {
            keep_going: true,
            ..AddOptions::default()
        };
        let added = adder.add(windows, &options).await;
        let store = adder.store().clone();
        self.adder = Some(adder);
        let added = added?;
        if added.windows > 0 {
            self.unpublished = Some(store);
        }
        let mut arrived = Arrived {
            added: added.windows,
            known: added.known,
            damaged: Vec::new(),
            misdated: added
                .misdated
                .iter()
                .map(|(host, misdated)| misdated.sentence(host))
                .collect(),
        };
        for error in added.failed {
            match error {
                StoreError::Profile { file, reason } => arrived.damaged.push((file, reason)),
                // Not of one window: then nothing is known of any.
                other => return Err(other),
            }
        }
        Ok(arrived)
    }
}

impl Sink for StoreSink {
    async fn add(&mut self, windows: &[PathBuf]) -> Result<Arrived, SinkError> {
        self.try_add(windows).await.map_err(|error| match error {
            StoreError::Place { .. }
            | StoreError::NoStore { .. }
            | StoreError::Newer { .. }
            | StoreError::Damaged { .. }
            | StoreError::Usage(_) => SinkError::Refused(Box::new(error)),
            error => SinkError::Unreachable(error.to_string()),
        })
    }

    async fn show(&mut self, over: bool) -> Result<(), SinkError> {
        let Some(store) = &self.unpublished else {
            return Ok(());
        };
        let age = if over { Duration::ZERO } else { PUBLISHED_EVERY };
        match store.publish_if_older(age).await {
            Ok(Some(_)) => self.unpublished = None,
            Ok(None) => {}
            Err(error) => return Err(SinkError::Unreachable(error.to_string())),
        }
        Ok(())
    }
}
