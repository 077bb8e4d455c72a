//! JSON objects that are made as they are written, so that a document of many times its profile is in memory nowhere. Their
//! keys keep their order.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use trodden_profile::{CpuTime, printable_lines};

/// An object of these keys and values. A key with `?` is left out if its value is `None`; `..` takes the keys of another one.
macro_rules! object {
    (@) => { () };
    (@ $key:literal: $value:expr $(, $($rest:tt)*)?) => {
        $crate::object::Field($key, $value, $crate::object::object!(@ $($($rest)*)?))
    };
    (@ $key:literal?: $value:expr $(, $($rest:tt)*)?) => {
        $crate::object::Optional($key, $value, $crate::object::object!(@ $($($rest)*)?))
    };
    (@ ..$other:expr $(, $($rest:tt)*)?) => {
        $crate::object::Both($other, $crate::object::object!(@ $($($rest)*)?))
    };
    ($($fields:tt)*) => { $crate::object::Object($crate::object::object!(@ $($fields)*)) };
}

pub(crate) use object;

/// Writes a document, piece by piece.
pub(crate) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Printable(BufWriter::new(out));
    serde_json::to_writer_pretty(&mut out, document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The same for a document of a few methods.
pub(crate) fn to_string(document: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Vec::new();
    serde_json::to_writer_pretty(Printable(&mut out), document)?;
    Ok(String::from_utf8_lossy(&out).into_owned() + "\n")
}

/// JSON's own escapes for what the JSON writer leaves: marks that turn the direction of writing around, and the upper control
/// characters. The writer gives whole characters.
struct Printable<W>(W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
        if bytes.iter().all(is_plain) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(printable_lines(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Keys with their values.
pub(crate) trait Fields {
    /// Writes them one after the other.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// An object, made by [`object!`].
pub(crate) struct Object<F>(pub F);

/// A key with its value, and the others.
pub(crate) struct Field<T, F>(pub &'static str, pub T, pub F);

/// A key that may be left out, and the others.
pub(crate) struct Optional<T, F>(pub &'static str, pub Option<T>, pub F);

/// The keys of two objects.
pub(crate) struct Both<F, G>(pub F, pub G);

/// A list whose elements are made as they are written.
pub(crate) struct Each<I>(pub I);

/// One of two kinds of values.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Either<A, B> {
    One(A),
    Other(B),
}

/// A time, with its share of the program's.
pub(crate) fn part_of(time: CpuTime, program: CpuTime) -> Object<impl Fields> {
    object! {
        "samples": time.samples,
        "seconds": time.ns as f64 / 1e9,
        "share": time.ns as f64 / program.ns.max(1) as f64,
    }
}

/// A list, if there is something in it.
pub(crate) fn filled<T>(list: &[T]) -> Option<&[T]> {
    Some(list).filter(|list| !list.is_empty())
}

impl<F: Fields> Serialize for Object<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

impl Fields for () {
    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<F: Fields> Fields for Object<F> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.write(map)
    }
}

impl<F: Fields> Fields for Option<F> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|fields| fields.write(map))
    }
}

impl<T: Serialize, F: Fields> Fields for Field<T, F> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(self.0, &self.1)?;
        self.2.write(map)
    }
}

impl<T: Serialize, F: Fields> Fields for Optional<T, F> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(value) = &self.1 {
            map.serialize_entry(self.0, value)?;
        }
        self.2.write(map)
    }
}

impl<F: Fields, G: Fields> Fields for Both<F, G> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.write(map)?;
        self.1.write(map)
    }
}
