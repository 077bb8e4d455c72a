//! Class files and zips, made byte by byte, so that each can be broken in its own way.

#![allow(dead_code, reason = "each test target uses some of it")]

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

pub const STORED: u16 = 0;
pub const DEFLATED: u16 = 8;

/// A class file with one static method `int m(int)` with a branch.
pub fn class(name: &str) -> Vec<u8> {
    class_of_version(name, 49)
}

pub fn class_of_version(name: &str, major: u16) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0];
    out.extend(major.to_be_bytes());
    out.extend(8u16.to_be_bytes());
    let text = |out: &mut Vec<u8>, text: &str| {
        out.push(1);
        out.extend((text.len() as u16).to_be_bytes());
        out.extend(text.as_bytes());
    };
    text(&mut out, name);
    out.extend([7, 0, 1]);
    text(&mut out, "java/lang/Object");
    out.extend([7, 0, 3]);
    text(&mut out, "m");
    text(&mut out, "(I)I");
    text(&mut out, "Code");
    // Access, this, super, no interfaces, no fields; one method with one attribute.
    out.extend([0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0, 0, 1, 0, 9, 0, 5, 0, 6, 0, 1]);
    // iload_0, ifeq +5, iconst_1, ireturn, iconst_0, ireturn
    let code = [0x1a, 0x99, 0, 5, 0x04, 0xac, 0x03, 0xac];
    out.extend([
        0,
        7,
        0,
        0,
        0,
        12 + code.len() as u8,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        code.len() as u8,
    ]);
    out.extend(code);
    out.extend([0, 0, 0, 0, 0, 0]);
    out
}

/// An entry to be. Its headers need not be true.
#[derive(Clone)]
pub struct File {
    pub name: String,
    pub local_name: Option<String>,
    pub bytes: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: Option<u32>,
    pub size: Option<u32>,
    pub compressed: Option<u32>,
    pub extra: Vec<u8>,
    pub comment: String,
    pub time: u32,
    pub descriptor: bool,
    /// Padding in an extra field that aligns the data, and says so.
    pub align: Option<u16>,
}

pub fn file(name: &str, bytes: impl Into<Vec<u8>>) -> File {
    File {
        name: name.to_owned(),
        local_name: None,
        bytes: bytes.into(),
        method: DEFLATED,
        flags: 0,
        crc: None,
        size: None,
        compressed: None,
        extra: Vec::new(),
        comment: String::new(),
        time: 0x5a21_7b3c,
        descriptor: false,
        align: None,
    }
}

impl File {
    pub fn stored(mut self) -> Self {
        self.method = STORED;
        self
    }
}

pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip with something in front of it and a comment. `absolute`: do offsets count what is in front?
pub fn zip_with(prefix: &[u8], absolute: bool, files: &[File], comment: &str) -> Vec<u8> {
    let mut out = prefix.to_vec();
    let base = if absolute { 0 } else { prefix.len() };
    let mut central = Vec::new();
    for file in files {
        let data = match file.method {
            DEFLATED => deflate(&file.bytes),
            _ => file.bytes.clone(),
        };
        let crc = file.crc.unwrap_or_else(|| crc32fast::hash(&file.bytes));
        let size = file.size.unwrap_or(file.bytes.len() as u32);
        let compressed = file.compressed.unwrap_or(data.len() as u32);
        let flags = file.flags | if file.descriptor { 8 } else { 0 };
        let (offset, name) = (
            (out.len() - base) as u32,
            file.local_name.as_ref().unwrap_or(&file.name),
        );
        let mut extra = file.extra.clone();
        if let Some(align) = file.align {
            let at = out.len() + 30 + name.len() + extra.len() + 6;
            let padding = (usize::from(align) - at % usize::from(align)) % usize::from(align);
            extra.extend(0xd935u16.to_le_bytes());
            extra.extend((2 + padding as u16).to_le_bytes());
            extra.extend(align.to_le_bytes());
            extra.resize(extra.len() + padding, 0);
        }
        let head = |described: bool| {
            let mut head = vec![20, 0];
            head.extend(flags.to_le_bytes());
            head.extend(file.method.to_le_bytes());
            head.extend(file.time.to_le_bytes());
            let values = if described {
                [crc, compressed, size]
            } else {
                [0; 3]
            };
            values.iter().for_each(|v| head.extend(v.to_le_bytes()));
            head
        };
        out.extend(b"PK\x03\x04");
        out.extend(head(!file.descriptor));
        out.extend((name.len() as u16).to_le_bytes());
        out.extend((extra.len() as u16).to_le_bytes());
        out.extend(name.as_bytes());
        out.extend(&extra);
        out.extend(&data);
        if file.descriptor {
            out.extend(b"PK\x07\x08");
            [crc, compressed, size]
                .iter()
                .for_each(|v| out.extend(v.to_le_bytes()));
        }
        central.extend(b"PK\x01\x02\x14\x03");
        central.extend(head(true));
        central.extend((file.name.len() as u16).to_le_bytes());
        central.extend((file.extra.len() as u16).to_le_bytes());
        central.extend((file.comment.len() as u16).to_le_bytes());
        central.extend([0, 0, 0, 0]);
        central.extend(0o100_644u32.wrapping_shl(16).to_le_bytes());
        central.extend(offset.to_le_bytes());
        central.extend(file.name.as_bytes());
        central.extend(&file.extra);
        central.extend(file.comment.as_bytes());
    }
    let directory = (out.len() - base) as u32;
    out.extend(&central);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((files.len() as u16).to_le_bytes());
    out.extend((files.len() as u16).to_le_bytes());
    out.extend((central.len() as u32).to_le_bytes());
    out.extend(directory.to_le_bytes());
    out.extend((comment.len() as u16).to_le_bytes());
    out.extend(comment.as_bytes());
    out
}

pub fn zip(files: &[File]) -> Vec<u8> {
    zip_with(b"", true, files, "")
}
