//! The section with inlined code: writing and reading. It belongs to the path maps, but has sections of its own, as shapes have.

use std::sync::Arc;

use super::InlinedCode;
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::Fault;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::section::{Records, SectionReader};

/// Its tag.
pub(in crate::model) const INLINED: Tag = *b"inln";

/// Writes one record per class that has inlined code.
pub(super) fn write(profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut records = Records::new(INLINED);
    for (index, class) in profile.classes.iter().enumerate() {
        put_class(&mut records.plain, index, class);
        records.end()?;
    }
    records.append_to(out)
}

/// Writes the record of a class, which has this number in the file, if it has inlined code.
pub(in crate::model) fn put_class(plain: &mut Encoder, index: usize, class: &ClassProfile) {
    let methods = class.map.methods.iter().enumerate();
    let methods: Vec<_> = methods.filter(|(_, method)| !method.inlined.is_empty()).collect();
    if methods.is_empty() {
        return;
    }
    let pieces = methods.iter().flat_map(|(_, method)| &method.inlined);
    let mut names: Vec<(&str, &str)> = pieces.map(|piece| (&*piece.file, &*piece.class)).collect();
    names.sort_unstable();
    names.dedup();
    plain.uint(index as u64);
    plain.len(names.len());
    for (file, class) in &names {
        plain.string(file);
        plain.string(class);
    }
    plain.len(methods.len());
    for (index, method) in methods {
        plain.len(index);
        plain.len(method.inlined.len());
        let mut from = 0;
        for piece in &method.inlined {
            let name = names.binary_search(&(&piece.file, &piece.class));
            plain.uint(u64::from(piece.start - from));
            plain.uint(u64::from(piece.end - piece.start));
            plain.len(name.unwrap_or_default());
            plain.uint(u64::from(piece.line));
            from = piece.end;
        }
    }
}

/// Pieces go straight into the path maps that were read before.
pub(super) struct Reading;

impl SectionReader for Reading {
    fn section(&mut self, _: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()> {
        d.records(|d| record(d, &mut profile.classes))
    }
}

fn record(d: &mut Decoder<'_>, classes: &mut [ClassProfile]) -> Decoded<()> {
    let index = d.u32("class of inlined code")?;
    let class = classes.get_mut(index as usize);
    let class = class.ok_or(Fault::NoItem("inlined code", "class", index.into()))?;
    let names = d.list("files of inlined code", |d, _| {
        let name = |text: String| Arc::<str>::from(text);
        Ok((
            name(d.string("file of inlined code")?),
            name(d.string("class of inlined code")?),
        ))
    })?;
    let map = Arc::make_mut(&mut class.map);
    for _ in 0..d.count("methods with inlined code")? {
        let method = d.u32("method of inlined code")?;
        let place = (index as usize, method as usize);
        let method = map.methods.get_mut(method as usize);
        let method = method.ok_or(Fault::NoMethod("inlined code", place.0, place.1))?;
        let mut from = 0u32;
        method.inlined = d.list("pieces of inlined code", |d, _| {
            let start = from.checked_add(d.u32("start of inlined code")?);
            let start = start.ok_or(Fault::TooWide("start of inlined code", 32))?;
            let end = start.checked_add(d.u32("length of inlined code")?);
            let end = end.ok_or(Fault::TooWide("end of inlined code", 32))?;
            from = end;
            let name = d.u32("file of inlined code")?;
            let (file, class) =
                names
                    .get(name as usize)
                    .ok_or(Fault::NoItem("inlined code", "file", name.into()))?;
            Ok(InlinedCode {
                start,
                end,
                line: d.u32("line of inlined code")?,
                file: Arc::clone(file),
                class: Arc::clone(class),
            })
        })?;
    }
    Ok(())
}
