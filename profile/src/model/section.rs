//! What a kind of data in a profile does, apart from path maps and counts. Each kind is a folder, whose
//! `section.rs` implements [`Section`], and a line in [`KINDS`](crate::model::kinds::KINDS).

use std::cell::Cell;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{
    Checked, PACKING_LIMIT, PLAIN, SECTION_TARGET, Tag, WriteError, ZLIB, check_length, put_section,
};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::fault::Fault;
use crate::model::profile::Profile;

/// A kind of data in a profile. The implementor has no state: what it speaks of is in the [`Profile`].
pub(crate) trait Section: Sync {
    /// The tags of its sections in a file. They begin with a small letter, so that older readers ignore them.
    fn tags(&self) -> &'static [Tag];

    /// Appends its sections, or none if the profile has no such data. The data was checked before.
    fn write(&self, profile: &Profile, out: &mut Vec<u8>) -> Result<(), WriteError>;

    /// What takes its sections out of a file.
    fn reader(&self) -> Box<dyn SectionReader>;

    /// Does the data keep the rules of the data model? Asked before a profile is written, and when all of one
    /// is read.
    fn check(&self, profile: &Profile) -> Checked;

    /// Its texts outside of path maps: they may hold any character, and [`Profile::printable`] replaces some.
    /// By default there are none.
    fn texts<'p>(&self, _: &'p Profile) -> Vec<&'p str> {
        Vec::new()
    }

    /// The same texts, to be changed.
    fn texts_mut<'p>(&self, _: &'p mut Profile) -> Vec<&'p mut String> {
        Vec::new()
    }

    /// The name of its data, if the profile has some and they are estimates, which may fall. By default they
    /// are none.
    fn estimates(&self, _: &Profile) -> Option<&'static str> {
        None
    }

    /// The data of `now` that `before`, an earlier reading of the same recording, had not. `rest` has the
    /// classes of `now`, sorted and each once, and gets the data: merged with `before` it is that of `now`. By
    /// default [estimates](Self::estimates) are refused, and all else is in the path maps.
    fn subtract(&self, now: &Profile, before: &Profile, _rest: &mut Profile) -> Result<(), SubtractError> {
        match self.estimates(now).or_else(|| self.estimates(before)) {
            Some(what) => Err(SubtractError::Estimates { what }),
            None => Ok(()),
        }
    }

    /// Calls back with the position of each class that the data says something of, so that the profile cannot
    /// do without the class. What is known about a class without saying that it ran does not count. By
    /// default there is none.
    fn classes(&self, _: &Profile, _: &mut dyn FnMut(usize)) {}

    /// Adds up the data of several profiles. `merged` has the classes of the result, and gets the data.
    fn merge(&self, inputs: &[&Profile], merged: &mut Profile) -> Result<(), MergeError>;
}

/// What was read of one kind so far.
pub(crate) trait SectionReader {
    /// Reads the contents of one section, whose tag is one of [`Section::tags`]. Classes that stand before it
    /// are there.
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, profile: &mut Profile) -> Decoded<()>;

    /// Puts into the profile what the sections said. All classes are known now. By default it is there already.
    fn finish(self: Box<Self>, _profile: &mut Profile) -> Decoded<()> {
        Ok(())
    }
}

/// Contents of the one section about a kind of data, with the number of its items, which later sections hold.
pub(crate) struct About<T>(Option<(T, u64)>);

impl<T> Default for About<T> {
    fn default() -> Self {
        About(None)
    }
}

impl<T> About<T> {
    /// Sets what the section says of these items.
    pub fn set(&mut self, items: &'static str, about: T, number: u64) -> Decoded<()> {
        match self.0.replace((about, number)) {
            None => Ok(()),
            Some(_) => Err(Fault::Twice(items).into()),
        }
    }

    /// The section's contents, where this number of items was read; `None` if there are none, and no section.
    pub fn complete(self, items: &'static str, found: u64) -> Decoded<Option<T>> {
        match self.0 {
            None if found == 0 => Ok(None),
            None => Err(Fault::Untold(items, found).into()),
            Some((about, stated)) => {
                Fault::number(items, found, stated)?;
                Ok(Some(about))
            }
        }
    }
}

/// Appends a section with these contents to a file, packed if that makes it smaller and readers will unpack it.
pub(crate) fn put_packed(out: &mut Vec<u8>, tag: Tag, plain: &[u8]) -> Result<(), WriteError> {
    check_length(plain)?;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(plain)?;
    let packed = packed.finish()?;
    let is_readable = plain.len() <= packed.len().saturating_mul(PACKING_LIMIT);
    let (encoding, stored) = if packed.len() < plain.len() && is_readable {
        (ZLIB, packed.as_slice())
    } else {
        (PLAIN, plain)
    };
    put_section(out, tag, encoding, plain.len(), stored);
    Ok(())
}

/// Sections with the records of one tag. After about 1 MiB another one begins.
#[derive(Debug)]
pub(crate) struct Records {
    tag: Tag,
    /// Those that are complete.
    packed: Vec<u8>,
    /// Takes the next record.
    pub plain: Encoder,
}

impl Records {
    /// No records yet.
    pub fn new(tag: Tag) -> Self {
        Records {
            tag,
            packed: Vec::new(),
            plain: Encoder::default(),
        }
    }

    /// Ends a record: only here may a section end.
    pub fn end(&mut self) -> Result<(), WriteError> {
        if self.plain.bytes.len() >= SECTION_TARGET {
            put_packed(&mut self.packed, self.tag, &self.plain.bytes)?;
            self.plain.bytes.clear();
        }
        Ok(())
    }

    /// Appends the sections to a file, if there are any.
    pub fn append_to(mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.append(&mut self.packed);
        if !self.plain.bytes.is_empty() {
            put_packed(out, self.tag, &self.plain.bytes)?;
        }
        Ok(())
    }
}

/// The profile in a section. One that has another in a section is refused before that is read: a file cannot make the
/// reader go deeper and deeper.
pub(crate) fn nested(bytes: &[u8]) -> Decoded<Profile> {
    thread_local!(static INSIDE: Cell<bool> = const { Cell::new(false) });
    if INSIDE.replace(true) {
        return Err(Fault::Nested.into());
    }
    let found = Profile::read(bytes);
    INSIDE.set(false);
    Ok(found.map_err(|e| Fault::Inner(Box::new(e)))?)
}
