//! HotSpot's counts as a kind of data.

use super::{codec, merge};
use crate::model::codec::{Checked, Tag, WriteError};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::fault::Fault;
use crate::model::profile::Profile;
use crate::model::section::{Section, SectionReader};

/// HotSpot's counts as a kind of data.
pub(crate) struct Kind;

impl Section for Kind {
    fn tags(&self) -> &'static [Tag] {
        &[codec::METHODS, codec::COUNTS]
    }

    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
        codec::write(&profile.hotspot, out)
    }

    fn reader(&self) -> Box<dyn SectionReader> {
        Box::new(codec::Reading::default())
    }

    fn check(&self, profile: &Profile) -> Checked {
        let methods = &profile.hotspot;
        Fault::order(
            "methods that HotSpot counted",
            methods.is_sorted_by(|a, b| a.names() < b.names()),
        )?;
        methods.iter().try_for_each(|method| method.check())
    }

    fn texts<'p>(&self, profile: &'p Profile) -> Vec<&'p str> {
        let methods = profile.hotspot.iter();
        methods
            .flat_map(|method| {
                [&*method.class, &*method.map.name, &*method.map.descriptor]
                    .into_iter()
                    .chain(method.source_file.as_deref())
                    .chain(method.conditions.texts())
            })
            .collect()
    }

    fn texts_mut<'p>(&self, profile: &'p mut Profile) -> Vec<&'p mut String> {
        let methods = profile.hotspot.iter_mut();
        methods
            .flat_map(|method| {
                let map = &mut method.map;
                [&mut method.class, &mut map.name, &mut map.descriptor]
                    .into_iter()
                    .chain(&mut method.source_file)
                    .chain(method.conditions.texts_mut())
            })
            .collect()
    }

    fn subtract(&self, now: &Profile, _: &Profile, rest: &mut Profile) -> Result<(), SubtractError> {
        // They are of the whole life of the JVM, in both readings.
        rest.hotspot = now.hotspot.clone();
        Ok(())
    }

    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError> {
        merged.hotspot = merge::merge(inputs);
        Ok(())
    }
}
