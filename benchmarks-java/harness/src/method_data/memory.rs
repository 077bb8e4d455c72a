//! Another process's memory, and where HotSpot says its own structures are.
//!
//! `libjvm.so` exports tables for debuggers (`gHotSpotVMStructs`, `gHotSpotVMTypes`): names of fields, with
//! their offsets or addresses. They are what the serviceability agent goes by.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::error::{Error, Result, io};

/// Bytes that are read at once.
const PAGE: u64 = 4096;

/// A process that stands still.
pub struct Memory {
    file: File,
    pages: RefCell<HashMap<u64, Box<[u8; PAGE as usize]>>>,
}

impl Memory {
    /// Of a process.
    ///
    /// # Errors
    /// If it may not be read.
    pub fn of(process: u32) -> Result<Memory> {
        let path = PathBuf::from(format!("/proc/{process}/mem"));
        let file = File::open(&path).map_err(io("open", &path))?;
        let pages = RefCell::default();
        Ok(Memory { file, pages })
    }

    /// Some bytes; zeros where nothing is mapped.
    pub fn bytes<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut bytes = [0; N];
        self.read(at, &mut bytes);
        bytes
    }

    /// The same, as many as there is room for.
    pub fn read(&self, at: u64, into: &mut [u8]) {
        let mut pages = self.pages.borrow_mut();
        for (place, byte) in (at..).zip(into) {
            let page = pages.entry(place / PAGE).or_insert_with(|| {
                let mut page = Box::new([0; PAGE as usize]);
                // What is not mapped is read as zeros: walks end there.
                let _ = self.file.read_exact_at(&mut page[..], place / PAGE * PAGE);
                page
            });
            *byte = page[(place % PAGE) as usize];
        }
    }

    /// A pointer.
    pub fn u64(&self, at: u64) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    /// An `int`.
    pub fn i32(&self, at: u64) -> i32 {
        i32::from_le_bytes(self.bytes(at))
    }

    /// A `u2`.
    pub fn u16(&self, at: u64) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    /// Text up to a zero.
    pub fn text(&self, at: u64) -> String {
        let mut text = Vec::new();
        if at != 0 {
            for place in at.. {
                match self.bytes::<1>(place) {
                    [0] => break,
                    [byte] => text.push(byte),
                }
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Offsets of fields (addresses of static ones), and sizes of types.
#[derive(Debug, Default)]
pub struct Layout {
    fields: HashMap<(String, String), u64>,
    sizes: HashMap<String, u64>,
}

impl Layout {
    /// Of the JVM that the process is.
    ///
    /// # Errors
    /// If it is no JVM, or exports no such tables.
    pub fn of(process: u32, memory: &Memory) -> Result<Layout> {
        let maps = PathBuf::from(format!("/proc/{process}/maps"));
        let text = std::fs::read_to_string(&maps).map_err(io("read", &maps))?;
        let no_jvm = || Error::Usage(format!("process {process} has no libjvm.so"));
        let line = text.lines().find(|line| line.ends_with("/libjvm.so"));
        let line = line.ok_or_else(no_jvm)?;
        let begin = line.split('-').next().unwrap_or_default();
        let begin = u64::from_str_radix(begin, 16).map_err(|_| no_jvm())?;
        let library = PathBuf::from(&line[line.find('/').ok_or_else(no_jvm)?..]);
        let bytes = std::fs::read(&library).map_err(io("read", &library))?;
        let symbols = symbols(&bytes).ok_or_else(no_jvm)?;
        let value = |name: &str| -> Result<u64> {
            let at = symbols.get(name);
            let at = at.ok_or_else(|| Error::Usage(format!("libjvm.so does not export {name}")))?;
            Ok(memory.u64(begin + at))
        };
        let mut layout = Layout::default();
        let of = |name: &str| value(&format!("gHotSpotVMStructEntry{name}Offset"));
        let (type_name, field_name, offset) = (of("TypeName")?, of("FieldName")?, of("Offset")?);
        let (is_static, address) = (of("IsStatic")?, of("Address")?);
        let mut entry = value("gHotSpotVMStructs")?;
        let stride = value("gHotSpotVMStructEntryArrayStride")?;
        while memory.u64(entry + type_name) != 0 {
            let name = |at: u64| memory.text(memory.u64(entry + at));
            let place = match memory.i32(entry + is_static) {
                0 => offset,
                _ => address,
            };
            let key = (name(type_name), name(field_name));
            layout.fields.insert(key, memory.u64(entry + place));
            entry += stride;
        }
        let (name, size) = (
            value("gHotSpotVMTypeEntryTypeNameOffset")?,
            value("gHotSpotVMTypeEntrySizeOffset")?,
        );
        let mut entry = value("gHotSpotVMTypes")?;
        let stride = value("gHotSpotVMTypeEntryArrayStride")?;
        while memory.u64(entry + name) != 0 {
            let text = memory.text(memory.u64(entry + name));
            layout.sizes.insert(text, memory.u64(entry + size));
            entry += stride;
        }
        Ok(layout)
    }

    /// Where a field is.
    ///
    /// # Errors
    /// If the JVM does not tell.
    pub fn field(&self, of: &str, name: &str) -> Result<u64> {
        let found = self.fields.get(&(of.to_owned(), name.to_owned()));
        found
            .copied()
            .ok_or_else(|| Error::Usage(format!("this JVM does not tell where {of}::{name} is")))
    }

    /// How long a type is.
    ///
    /// # Errors
    /// If the JVM does not tell.
    pub fn size(&self, of: &str) -> Result<u64> {
        let found = self.sizes.get(of);
        found
            .copied()
            .ok_or_else(|| Error::Usage(format!("this JVM does not tell the size of {of}")))
    }
}

/// The exported symbols of a 64-bit ELF file, relative to where it is loaded.
fn symbols(file: &[u8]) -> Option<HashMap<String, u64>> {
    const DYNSYM: u32 = 11;
    let u64_at = |at: usize| Some(u64::from_le_bytes(file.get(at..at + 8)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let u16_at = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
    if !file.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let (sections, length, count) = (u64_at(40)? as usize, u16_at(58)? as usize, u16_at(60)? as usize);
    let section = |index: usize| sections + index * length;
    let table = (0..count)
        .map(section)
        .find(|&at| u32_at(at + 4) == Some(DYNSYM))?;
    let names = section(u32_at(table + 40)? as usize);
    let (names, begin, size) = (
        u64_at(names + 24)? as usize,
        u64_at(table + 24)? as usize,
        u64_at(table + 32)? as usize,
    );
    let mut all = HashMap::new();
    for symbol in (begin..begin + size).step_by(24) {
        let name = file.get(names + u32_at(symbol)? as usize..)?;
        let name = &name[..name.iter().position(|&byte| byte == 0)?];
        all.insert(String::from_utf8_lossy(name).into_owned(), u64_at(symbol + 8)?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory() {
        let text = Box::new(*b"told\0");
        let number = Box::new(0x1234_5678_9abc_def0_u64);
        // Pages are read once, so what is looked for has to be there by then.
        let (text, number) = (std::hint::black_box(text), std::hint::black_box(number));
        let memory = Memory::of(std::process::id()).unwrap();
        let at = std::ptr::from_ref(&*number) as u64;
        assert_eq!(memory.text(text.as_ptr() as u64), "told");
        assert_eq!(memory.u64(at), *number);
        assert_eq!(memory.u16(at), 0xdef0);
        // Nothing is there.
        assert_eq!(memory.u64(8), 0);
    }

    #[test]
    fn symbols_of_a_library() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps
            .lines()
            .find(|l| l.contains("/libc.so") || l.contains("/libc-"));
        // Without a C library of its own in the process there is nothing to look at.
        let Some(line) = line else { return };
        let file = std::fs::read(&line[line.find('/').unwrap()..]).unwrap();
        assert!(symbols(&file).unwrap().contains_key("malloc"));
        assert!(symbols(b"no library").is_none());
    }
}
