//! Source lines of a method's code. What Kotlin has inlined gets the line of the call: the numbers that the
//! class file has for it are past the end of the file.

use std::sync::Arc;

use trodden_profile::{InlinedCode, LineEntry};

use crate::classfile::class::Class;
use crate::classfile::code::Code;
use crate::classfile::decode;
use crate::classfile::reader::Read;
use crate::classfile::source_map::{Origin, SourceMap};

/// The line numbers of inlined code that the class states.
#[derive(Debug)]
pub struct Lines<'t> {
    map: SourceMap<'t>,
    /// The class's own source file.
    file: &'t str,
    /// Files and classes that were named already.
    names: Vec<(Arc<str>, Arc<str>)>,
}

impl<'t> Lines<'t> {
    /// By the text of the class's SourceDebugExtension, which is empty if there is none.
    pub fn new(text: &'t str, class: &str, file: &'t str) -> Self {
        Lines {
            map: SourceMap::read(text, class),
            file,
            names: Vec::new(),
        }
    }

    /// The text of the attribute; empty if there is none.
    pub fn text(class: &Class) -> String {
        let mut attributes = class.attributes();
        let table = attributes.find(|a| a.name == b"SourceDebugExtension");
        table.map_or(String::new(), |table| decode(table.content).into_owned())
    }

    /// The lines of a method, and which of its code was inlined.
    pub fn read(&mut self, class: &Class, code: &Code) -> Read<(Vec<LineEntry>, Vec<InlinedCode>)> {
        let mut lines = table(class, code)?;
        if self.map.is_empty() {
            return Ok((lines, Vec::new()));
        }
        let mut pieces = Vec::new();
        let own = lines.iter().find(|entry| self.map.inlined(entry.line).is_none());
        // For a call whose line is not known, the line of the code in front of it.
        let mut line = own.map(|entry| entry.line);
        for at in 0..lines.len() {
            let LineEntry { bci, line: number } = lines[at];
            let Some(origin) = self.map.inlined(number) else {
                line = Some(number);
                continue;
            };
            let end = lines.get(at + 1).map_or(code.len(), |next| next.bci);
            if bci < end && end <= code.len() {
                let (file, class) = self.names(&origin);
                pieces.push(InlinedCode {
                    start: bci,
                    end,
                    line: origin.line,
                    file,
                    class,
                });
            }
            let call = self.map.call(number);
            // A call in inlined code is of another file, or has such a number itself.
            let call = call.filter(|call| call.file == self.file && self.map.inlined(call.line).is_none());
            line = call.map(|call| call.line).or(line);
            if let Some(line) = line {
                lines[at].line = line;
            }
        }
        if line.is_none() {
            // Nothing in it is of this file.
            lines.clear();
        }
        Ok((lines, pieces))
    }

    fn names(&mut self, origin: &Origin) -> (Arc<str>, Arc<str>) {
        let same = |(file, class): &&(Arc<str>, Arc<str>)| **file == *origin.file && **class == *origin.class;
        if let Some(known) = self.names.iter().find(same) {
            return known.clone();
        }
        let new: (Arc<str>, Arc<str>) = (origin.file.into(), origin.class.into());
        self.names.push(new.clone());
        new
    }
}

/// The entries of its LineNumberTables, by ascending bytecode index.
fn table(class: &Class, code: &Code) -> Read<Vec<LineEntry>> {
    let mut lines = Vec::new();
    for table in code
        .attributes(&class.pool)
        .filter(|a| a.name == b"LineNumberTable")
    {
        let mut reader = table.reader();
        let count = usize::from(reader.u2()?);
        lines.reserve_exact(count.min(reader.remaining() / 4));
        for _ in 0..count {
            lines.push(LineEntry {
                bci: u32::from(reader.u2()?),
                line: u32::from(reader.u2()?),
            });
        }
    }
    // The first of several entries for one place is the one that HotSpot shows.
    if !lines.is_sorted_by(|a, b| a.bci < b.bci) {
        lines.sort_by_key(|e| e.bci);
        lines.dedup_by_key(|e| e.bci);
    }
    Ok(lines)
}
