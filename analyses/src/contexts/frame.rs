//! The keys that distinguish the children of a context.

use rustc_hash::FxHashMap;

/// Call site of an activation whose caller, or the place in it, is not known.
pub const UNKNOWN_SITE: u16 = 0xffff;

/// One step of a calling context: which method runs, where it was called from and, if that is recorded, along
/// which path its caller got there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// Index of the method, as given out with the probes.
    pub method: u32,
    /// Bytecode index of the call in the caller, or [`UNKNOWN_SITE`].
    pub site: u16,
    /// The caller's path register at the call, which with the call site identifies one acyclic path prefix in
    /// the caller. `None` unless contexts are path-sensitive.
    pub prefix: Option<u64>,
}

impl Frame {
    /// A frame without a path prefix.
    #[inline(always)]
    pub fn new(method: u32, site: u16) -> Frame {
        Frame {
            method,
            site,
            prefix: None,
        }
    }

    /// This frame with the caller's path register at the call.
    #[inline(always)]
    pub fn with_prefix(self, register: u64) -> Frame {
        Frame {
            prefix: Some(register),
            ..self
        }
    }
}

/// A frame in [`BITS`](Self::BITS) bits. Most are packed; with a prefix, or a method from [`MAX_PACKED`] on,
/// it is the highest bit and an index into [`Frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(pub u64);

impl Key {
    /// Bits of a key.
    pub const BITS: u32 = 40;
}

const INTERNED: u64 = 1 << (Key::BITS - 1);

/// Methods that are packed are below this.
const MAX_PACKED: u32 = 1 << (Key::BITS - 1 - u16::BITS);

/// Frames that are not packed, by the keys given to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    keys: FxHashMap<Frame, u64>,
    frames: Vec<Frame>,
}

impl Frames {
    #[inline(always)]
    pub fn key(&mut self, frame: Frame) -> Key {
        match packed(frame) {
            Some(key) => key,
            None => self.intern(frame),
        }
    }

    #[inline(never)]
    fn intern(&mut self, frame: Frame) -> Key {
        let next = INTERNED | self.frames.len() as u64;
        let key = *self.keys.entry(frame).or_insert(next);
        if key == next {
            self.frames.push(frame);
        }
        Key(key)
    }

    /// The key of a frame, if it has one already.
    pub fn find(&self, frame: Frame) -> Option<Key> {
        packed(frame).or_else(|| self.keys.get(&frame).map(|&key| Key(key)))
    }

    /// The frame of a key that this table gave out.
    pub fn frame(&self, key: Key) -> Frame {
        match key.0 & INTERNED {
            0 => Frame::new((key.0 >> u16::BITS) as u32, key.0 as u16),
            _ => self.frames[(key.0 & !INTERNED) as usize],
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let entries = self.keys.capacity() * (size_of::<(Frame, u64)>() + 1);
        entries + self.frames.capacity() * size_of::<Frame>()
    }
}

#[inline(always)]
fn packed(frame: Frame) -> Option<Key> {
    let fits = frame.prefix.is_none() && frame.method < MAX_PACKED;
    fits.then(|| Key(u64::from(frame.method) << u16::BITS | u64::from(frame.site)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_back_to_frames() {
        let mut table = Frames::default();
        let plain = Frame::new(u32::MAX, UNKNOWN_SITE);
        let frames = [
            plain,
            Frame::new(0, 0),
            plain.with_prefix(0),
            plain.with_prefix(u64::MAX),
            Frame::new(0, 0).with_prefix(0),
            Frame::new(MAX_PACKED - 1, UNKNOWN_SITE),
            Frame::new(MAX_PACKED, 0),
        ];
        let keys = frames.map(|frame| table.key(frame));
        assert_eq!(keys, frames.map(|frame| table.key(frame)));
        assert!(keys.iter().all(|key| key.0 >> Key::BITS == 0));
        assert_eq!(keys.map(|key| table.frame(key)), frames);
        assert_eq!(table.find(plain.with_prefix(1)), None);
        assert_eq!(table.find(frames[3]), Some(keys[3]));
    }
}
