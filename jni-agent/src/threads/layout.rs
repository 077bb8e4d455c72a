// What the agent and the Java shim both know: where things are in a thread's block, and words that the shim
// makes itself. `build.rs` includes this file as well, and makes `java/lang/TroddenLayout.java` of it. So it
// has constants only.

/// Slots (64-bit words) of a block's header, from its address on.
///
/// Address at which the next word of the stream goes.
pub const CURSOR: u32 = 0;
/// Address of the end of the buffer; 0 in a watched block, so that probes call `drain` before each word.
pub const END: u32 = 1;
/// Number of open activations (an `int`); behind it, in the same word, the bytecode index of the call under
/// way.
pub const DEPTH: u32 = 2;
/// Address of the beginning of the buffer.
pub const BUFFER: u32 = 3;
/// Path ends to leave out (an `int`), and words to append (another one) before the thread asks again which
/// paths are wanted.
pub const SKIP: u32 = 4;
/// When the last word was written, in nanoseconds.
pub const TIME: u32 = 5;
/// The burst that the thread has joined (an `int`); its negative, if it was left out of it.
pub const JOINED: u32 = 6;
/// The word of the call in progress, which waits for a callee with probes.
pub const PENDING: u32 = 7;
/// Only the agent uses it: in a watched block, one more than the number of open activations before the word
/// that comes next.
pub const WATCHED: u32 = 8;
/// Slots of the header. Counters, or the buffer of a small block, come after it.
pub const HEADER: u32 = 9;

/// Added to the address of a block that more than one thread writes to. Blocks are aligned to pages.
pub const SHARED_MARK: u32 = 1;

/// Kinds of words of the stream that the shim makes itself (`trodden_profile::events::Kind`).
pub const KIND_ENTER: u32 = 1;
/// As above.
pub const KIND_UNWOUND: u32 = 5;
/// As above.
pub const KIND_CHARGE: u32 = 10;
/// Bits of a word's upper half below its kind.
pub const KIND_SHIFT: u32 = 28;
/// Arguments of `Enter` without a call site of its own (`trodden_profile::events`).
pub const NO_CALL_SITE: u32 = 0xffff;
/// As above: the call site is that of the caller's last `Call`.
pub const CALL_UNDER_WAY: u32 = 0xfffe;

/// The constants of `TroddenLayout`: Java type, name, value. Places in the header are in bytes from the
/// block's address; its length is in slots.
pub const JAVA: [(&str, &str, u32); 16] = [
    ("long", "CURSOR", 8 * CURSOR),
    ("long", "END", 8 * END),
    ("long", "DEPTH", 8 * DEPTH),
    ("long", "BUFFER", 8 * BUFFER),
    ("long", "SKIP", 8 * SKIP),
    ("long", "WORDS", 8 * SKIP + 4),
    ("long", "TIME", 8 * TIME),
    ("long", "JOINED", 8 * JOINED),
    ("long", "PENDING", 8 * PENDING),
    ("int", "HEADER", HEADER),
    ("long", "SHARED_MARK", SHARED_MARK),
    ("int", "ENTER", KIND_ENTER << KIND_SHIFT),
    ("int", "UNWOUND", KIND_UNWOUND << KIND_SHIFT),
    ("int", "CHARGE", KIND_CHARGE << KIND_SHIFT),
    ("long", "CALL_UNDER_WAY", CALL_UNDER_WAY),
    ("long", "NO_CALL_SITE", NO_CALL_SITE),
];
