//! Working memory that is used again from method to method and from class to class.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::cfg::CfgScratch;
use crate::classfile::code::Marks;
use crate::options::InstrumentOptions;
use crate::rewrite::RewriteScratch;
use crate::shape::ShapeScratch;

/// Memory for one class at a time.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For the method that is being read.
    pub marks: Marks,
    /// For the method whose graph is being built.
    pub cfg: CfgScratch,
    /// For the method that is being numbered.
    pub numbering: trodden_numbering::Scratch,
    /// For the class that is being read.
    pub shape: ShapeScratch,
    /// For the method that is being written.
    pub rewrite: RewriteScratch,
    /// The methods of the class that is being written.
    pub methods: Vec<u8>,
}

/// State that all classes share: the settings, and memory not in use just now. There is as much of that as
/// there were classes in work at the same time.
#[derive(Debug)]
pub struct Shared {
    /// The settings.
    pub options: InstrumentOptions,
    #[expect(
        clippy::vec_box,
        reason = "handed around under a lock: a pointer instead of a kilobyte"
    )]
    spare: Mutex<Vec<Box<Scratch>>>,
}

impl Shared {
    /// These settings, no memory yet.
    pub fn new(options: InstrumentOptions) -> Self {
        Shared {
            options,
            spare: Mutex::default(),
        }
    }

    /// Memory to work in.
    pub fn scratch(&self) -> Borrowed<'_> {
        // Scratch is in order after a panic too: everybody resets what they use.
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        Borrowed {
            shared: self,
            scratch: Some(spare.pop().unwrap_or_default()),
        }
    }
}

/// Working memory; given back when dropped.
pub struct Borrowed<'s> {
    shared: &'s Shared,
    scratch: Option<Box<Scratch>>,
}

impl Deref for Borrowed<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        self.scratch.as_ref().expect("held until dropped")
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        self.scratch.as_mut().expect("held until dropped")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        // A giant's memory is not kept. What a panic has left half done neither.
        let Some(scratch) = self.scratch.take() else {
            return;
        };
        if scratch.methods.capacity() <= MAX_KEPT_BYTES && !std::thread::panicking() {
            let mut spare = self.shared.spare.lock().unwrap_or_else(PoisonError::into_inner);
            spare.push(scratch);
        }
    }
}

/// Bytes of methods up to which a class's working memory is kept.
const MAX_KEPT_BYTES: usize = 1 << 20;
