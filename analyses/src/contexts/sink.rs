//! The stream of calls and returns.

use super::frame::Frame;

/// Something that follows the stack of one thread at a time. This is what the event pipeline drives.
pub trait ContextSink {
    /// A call: an activation of `frame.method` begins, and its context gets `weight` (1 to count calls; 0 if
    /// only [`charge`](Self::charge) counts).
    fn enter(&mut self, frame: Frame, weight: u64);

    /// The innermost activation ends.
    fn exit(&mut self);

    /// A call of what calls nothing: [`enter`](Self::enter) and [`exit`](Self::exit) at once.
    #[inline]
    fn leaf(&mut self, frame: Frame, weight: u64) {
        self.enter(frame, weight);
        self.exit();
    }

    /// An exception has ended activations: `depth` of them remain.
    fn unwind(&mut self, depth: u32);

    /// Events are missing from here on: nothing is known of the stack, as if the thread had entered nothing.
    fn gap(&mut self);

    /// An activation that was already there and was found by walking the stack, on top of those found before.
    /// It is not a call, and gets no weight.
    fn place(&mut self, frame: Frame);

    /// A burst of a group begins: what follows is of it. Only how groups differ depends on that.
    fn burst(&mut self, _group: u32) {}

    /// Adds weight, such as time passed or bytes allocated, to the current context.
    fn charge(&mut self, weight: u64);

    /// The events that follow are another thread's, and continue where that thread's events were left. A
    /// virtual thread is a thread like any other, whatever carries it.
    fn switch(&mut self, thread: u64);

    /// The current thread has ended, whatever was on its stack.
    fn end_thread(&mut self);
}

/// A sink that does nothing. The cost of consuming a stream into this is the cost of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullContexts;

impl ContextSink for NullContexts {
    #[inline(always)]
    fn enter(&mut self, frame: Frame, weight: u64) {
        std::hint::black_box(u64::from(frame.method) ^ u64::from(frame.site) ^ weight);
    }

    #[inline(always)]
    fn exit(&mut self) {}

    fn unwind(&mut self, _: u32) {}

    fn gap(&mut self) {}

    fn place(&mut self, _: Frame) {}

    fn charge(&mut self, _: u64) {}

    fn switch(&mut self, _: u64) {}

    fn end_thread(&mut self) {}
}
