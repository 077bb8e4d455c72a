//! The sections of structural profiles: writing and reading.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::{GraphCounts, MethodStructure, Structural};
use crate::model::codec::wire::{Decoded, Decoder, Encoder, ascending, put_ascending};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::Fault;
use crate::model::profile::Profile;
use crate::model::section::{About, Records, SectionReader, put_packed};

/// Tag of the section about windows.
pub(super) const ABOUT: Tag = *b"stru";
/// Tag of the sections with methods.
pub(super) const LIST: Tag = *b"strl";

/// The name of the list's items in messages.
const METHODS: &str = "methods with structure graphs";

/// Writes what was counted.
pub(super) fn write(structural: &Structural, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut about = Encoder::default();
    about.uint(structural.window.map_or(0, |paths| u64::from(paths.get())));
    about.len(structural.methods.len());
    put_packed(out, ABOUT, &about.bytes)?;
    let mut list = Records::new(LIST);
    for (&(class, method), counts) in &structural.methods {
        let plain = &mut list.plain;
        plain.uint(u64::from(class));
        plain.uint(u64::from(method));
        plain.len(counts.graphs.len());
        for graph in &counts.graphs {
            plain.uint(graph.windows);
            plain.byte(u8::from(graph.by_rate));
            for table in [&graph.local, &graph.global] {
                put_ascending(plain, table.keys().copied(), |out, path| out.uint(table[&path]));
            }
        }
        list.end()?;
    }
    list.append_to(out)
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    about: About<Option<NonZeroU32>>,
    methods: BTreeMap<(u32, u32), MethodStructure>,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            ABOUT => self.about(d),
            _ => d.records(|d| self.method(d)),
        }
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let methods = self.methods;
        let about = self.about.complete(METHODS, methods.len() as u64)?;
        profile.structural = about.map(|window| Structural { window, methods });
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let window = NonZeroU32::new(d.u32("paths of a window")?);
        let number = d.uint("number of methods with structure graphs")?;
        self.about.set(METHODS, window, number)
    }

    fn method(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let key = (
            d.u32("class of structure graphs")?,
            d.u32("method of structure graphs")?,
        );
        let graphs = d.list("structure graphs", |d, _| {
            let windows = d.uint("windows")?;
            let by_rate = d.boolean("scaled by its rate")?;
            let mut table = |what| -> Decoded<BTreeMap<u64, u64>> {
                Ok(ascending(d, what, |d| d.uint("count of a structural path"))?
                    .into_iter()
                    .collect())
            };
            Ok(GraphCounts {
                windows,
                by_rate,
                local: table("local counts")?,
                global: table("global counts")?,
            })
        })?;
        let last = self.methods.last_key_value();
        Fault::order(METHODS, last.is_none_or(|(last, _)| *last < key))?;
        self.methods.insert(key, MethodStructure { graphs });
        Ok(())
    }
}
