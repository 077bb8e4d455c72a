//! The sections of structural profiles, both ways.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::{GraphCounts, MethodStructure, Structural};
use crate::model::codec::wire::{Decoded, Decoder, Encoder, ascending, put_ascending};
use crate::model::codec::{Tag, WriteError};
use crate::model::profile::Profile;
use crate::model::section::{Records, SectionReader, Sections};

/// Tag of the section about windows.
pub(super) const ABOUT: Tag = *b"stru";
/// Tag of the sections with methods.
pub(super) const LIST: Tag = *b"strl";

/// Writes what was counted.
pub(super) fn write(structural: &Structural, out: &mut Sections<'_>) -> Result<(), WriteError> {
    let mut about = Encoder::default();
    about.uint(structural.window.map_or(0, |paths| u64::from(paths.get())));
    about.len(structural.methods.len());
    out.put(ABOUT, &about.bytes)?;
    let mut list = Records::default();
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
        list.end();
    }
    out.put_records(LIST, list)
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    /// With the number of methods that there should be. They come later.
    about: Option<(Option<NonZeroU32>, u64)>,
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
        profile.structural = self.structural()?;
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        if self.about.is_some() {
            return Err("the file tells about its structure graphs twice".to_owned());
        }
        let window = NonZeroU32::new(d.u32("paths of a window")?);
        self.about = Some((window, d.uint("number of methods with structure graphs")?));
        Ok(())
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
        if self
            .methods
            .last_key_value()
            .is_some_and(|(last, _)| *last >= key)
        {
            return Err("the methods with structure graphs are not in order".to_owned());
        }
        self.methods.insert(key, MethodStructure { graphs });
        Ok(())
    }

    fn structural(self) -> Decoded<Option<Structural>> {
        match self.about {
            None if self.methods.is_empty() => Ok(None),
            None => Err("there are structure graphs, but nothing tells about them".to_owned()),
            Some((_, count)) if count != self.methods.len() as u64 => Err(format!(
                "the file holds structure graphs of {} methods, it says {count}",
                self.methods.len()
            )),
            Some((window, _)) => Ok(Some(Structural {
                window,
                methods: self.methods,
            })),
        }
    }
}
