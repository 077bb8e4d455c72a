//! The sections of structural profiles, both ways.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::SECTION_TARGET;
use super::error::Problem;
use super::read::ascending as read_ascending;
use super::wire::{Decoded, Decoder, Encoder};
use super::write::ascending;
use crate::model::profile::Profile;
use crate::model::structural::{GraphCounts, MethodStructure, Structural, structure_of};

/// Tag of the section about windows.
pub(super) const ABOUT: super::Tag = *b"stru";
/// Tag of the sections with methods.
pub(super) const LIST: super::Tag = *b"strl";

/// The payload of the [`ABOUT`] section, and those of [`LIST`] sections.
pub(super) fn payloads(structural: &Structural) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut about = Encoder::default();
    about.uint(structural.window.map_or(0, |paths| u64::from(paths.get())));
    about.len(structural.methods.len());
    let mut sections = Vec::new();
    let mut plain = Encoder::default();
    for (&(class, method), counts) in &structural.methods {
        plain.uint(u64::from(class));
        plain.uint(u64::from(method));
        plain.len(counts.graphs.len());
        for graph in &counts.graphs {
            plain.uint(graph.windows);
            plain.byte(u8::from(graph.by_rate));
            for table in [&graph.local, &graph.global] {
                ascending(&mut plain, table.keys().copied(), |out, path| {
                    out.uint(table[&path])
                });
            }
        }
        if plain.bytes.len() >= SECTION_TARGET {
            sections.push(std::mem::take(&mut plain.bytes));
        }
    }
    if !plain.bytes.is_empty() {
        sections.push(plain.bytes);
    }
    (about.bytes, sections)
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    /// With the number of methods that there should be. They come later.
    about: Option<(Option<NonZeroU32>, u64)>,
    methods: BTreeMap<(u32, u32), MethodStructure>,
}

impl Reading {
    /// Reads the payload of an [`ABOUT`] section.
    pub fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        if self.about.is_some() {
            return Err("the file tells about its structure graphs twice".to_owned());
        }
        let window = NonZeroU32::new(d.u32("paths of a window")?);
        self.about = Some((window, d.uint("number of methods with structure graphs")?));
        Ok(())
    }

    /// Reads one method of a [`LIST`] section.
    pub fn method(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let key = (
            d.u32("class of structure graphs")?,
            d.u32("method of structure graphs")?,
        );
        let graphs = d.list("structure graphs", |d, _| {
            let windows = d.uint("windows")?;
            let by_rate = d.boolean("scaled by its rate")?;
            let mut table = |what| -> Decoded<BTreeMap<u64, u64>> {
                Ok(read_ascending(d, what, |d| d.uint("count of a structural path"))?
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

    /// The structural profile, when all sections were read.
    pub fn finish(self) -> Decoded<Option<Structural>> {
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

/// Methods are there, and have these graphs and paths.
pub(super) fn check(profile: &Profile, structural: &Structural) -> Result<(), Problem> {
    let graphs = |(class, method): (u32, u32)| {
        let class = profile.classes.get(class as usize)?;
        structure_of(&class.map.methods.get(method as usize)?.graph).ok()
    };
    structural.check(graphs).map_err(|what| Problem {
        class: None,
        method: None,
        what,
    })
}
