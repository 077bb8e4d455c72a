//! What a kind of data in a profile does, apart from path maps and counts. Each kind is a folder, whose
//! `section.rs` implements [`Section`], and a line in [`KINDS`](crate::model::kinds::KINDS).

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{
    PACKING_LIMIT, PLAIN, Problem, SECTION_TARGET, Tag, WriteError, ZLIB, check_length, put_section,
};
use crate::model::errors::{MergeError, SubtractError};
use crate::model::profile::Profile;

/// A kind of data in a profile. The implementor has no state: what it speaks of is in the [`Profile`].
pub(crate) trait Section: Sync {
    /// The tags of its sections in a file. They begin with a small letter, so that older readers ignore them.
    fn tags(&self) -> &'static [Tag];

    /// Appends its sections, or none if the profile has no such data. The data was checked before.
    fn write(&self, profile: &Profile, out: &mut Sections<'_>) -> Result<(), WriteError>;

    /// What takes its sections out of a file.
    fn reader(&self) -> Box<dyn SectionReader>;

    /// Does the data keep the rules of the data model? Asked before a profile is written, and when all of one
    /// is read.
    fn check(&self, profile: &Profile) -> Result<(), Problem>;

    /// Its texts outside of path maps: they may hold any character, and [`Profile::printable`] replaces some.
    /// By default there are none.
    fn texts<'p>(&self, _: &'p Profile) -> Vec<&'p str> {
        Vec::new()
    }

    /// The same texts, to be changed.
    fn texts_mut<'p>(&self, _: &'p mut Profile) -> Vec<&'p mut String> {
        Vec::new()
    }

    /// The data of `now` that `before`, an earlier reading of the same recording, had not. `rest` has the
    /// classes of `now`, sorted and each once, and gets the data: merged with `before` it is that of `now`.
    fn subtract(&self, now: &Profile, before: &Profile, rest: &mut Profile) -> Result<(), SubtractError>;

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

    /// Puts into the profile what the sections said. All classes are known now.
    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()>;
}

/// The sections of a file that is being written.
pub(crate) struct Sections<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Sections<'a> {
    /// Appends to the bytes of a file.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Sections { out }
    }

    /// Appends a section with these contents, packed if that makes it smaller and readers will unpack it.
    pub fn put(&mut self, tag: Tag, plain: &[u8]) -> Result<(), WriteError> {
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
        put_section(self.out, tag, encoding, plain.len(), stored);
        Ok(())
    }

    /// Appends sections with these records, if there are any.
    pub fn put_records(&mut self, tag: Tag, records: Records) -> Result<(), WriteError> {
        records
            .payloads()
            .iter()
            .try_for_each(|plain| self.put(tag, plain))
    }
}

/// Records of one tag. After about 1 MiB another section begins.
#[derive(Default)]
pub(crate) struct Records {
    full: Vec<Vec<u8>>,
    /// Takes the next record.
    pub plain: Encoder,
}

impl Records {
    /// Ends a record: only here may a section end.
    pub fn end(&mut self) {
        if self.plain.bytes.len() >= SECTION_TARGET {
            self.full.push(std::mem::take(&mut self.plain.bytes));
        }
    }

    fn payloads(mut self) -> Vec<Vec<u8>> {
        if !self.plain.bytes.is_empty() {
            self.full.push(self.plain.bytes);
        }
        self.full
    }
}
