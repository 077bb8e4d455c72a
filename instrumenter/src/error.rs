//! Errors of a class, and reasons why a method is left alone.

use trodden_profile::Known;

use crate::classfile::reader::Fault;

/// The bytes are not a class file that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}{method}: offset {offset}: {message}", class = .class.as_deref().unwrap_or("class file"), method = .method.as_deref().map(|m| format!(".{m}")).unwrap_or_default())]
pub struct ClassError {
    /// Internal name of the class, if it was read before the trouble.
    pub class: Option<String>,
    /// Name and descriptor of the method, if the trouble is inside one.
    pub method: Option<String>,
    /// Byte offset in the class file.
    pub offset: usize,
    /// Description of the fault.
    pub message: String,
}

impl ClassError {
    pub(crate) fn new(class: Option<&str>, method: Option<String>, fault: Fault) -> Self {
        ClassError {
            class: class.map(str::to_owned),
            method,
            offset: fault.offset,
            message: fault.message,
        }
    }
}

/// Why a method (or class) with branches carries no probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// Uses `jsr`/`ret` (class files before version 51).
    Subroutines,
    /// Probes would push it over 8,000 bytes of bytecode, above which HotSpot never compiles a method.
    HugeMethodLimit,
    /// Probes would push it over 65,535 bytes.
    CodeTooLarge,
    /// No free local variable for the path register.
    TooManyLocals,
    /// The constant pool has no room for the probes' constants.
    ConstantPoolFull,
    /// More paths than numbers even with all cut points.
    TooManyPaths,
    /// The last instruction lets execution run off the end of the code: no JVM accepts the method.
    RunsOffTheEnd,
    /// Version 51 or later and a branch target has no stack map frame: the class would not verify even
    /// unchanged.
    MissingFrame,
    /// A debug table or type annotation of the method is malformed: HotSpot ignores that, we cannot move it.
    BrokenTable,
    /// A constructor whose call of `super()` or `this()` was not found: what is in front of it needs other
    /// handlers.
    UnknownSuperCall,
    /// A `finalize()` that does nothing: with code in it the JVM would register each object of the class.
    EmptyFinalizer,
    /// The probes call it themselves.
    UsedByProbes,
    /// Already carries probes: its constant pool names the shim.
    AlreadyInstrumented,
    /// A class file version that is newer than this build knows.
    UnknownVersion,
    /// Earlier runs know its paths.
    Settled,
    /// Earlier runs found that it has next to no part in time and decisions.
    Cold,
}

impl SkipReason {
    /// Text for reports.
    pub const fn text(self) -> &'static str {
        match self {
            SkipReason::Subroutines => "uses jsr/ret",
            SkipReason::HugeMethodLimit => "probes would push it over HotSpot's 8,000-byte compilation limit",
            SkipReason::CodeTooLarge => "probes would push it over 65,535 bytes",
            SkipReason::TooManyLocals => "no free local variable for the path register",
            SkipReason::ConstantPoolFull => "constant pool is full",
            SkipReason::TooManyPaths => "too many paths",
            SkipReason::RunsOffTheEnd => "execution can run off the end of the code",
            SkipReason::MissingFrame => "a branch target has no stack map frame",
            SkipReason::BrokenTable => "a debug table or type annotation is malformed",
            SkipReason::UnknownSuperCall => "the constructor's call of super() is not known",
            SkipReason::EmptyFinalizer => "an empty finalize() has to stay empty",
            SkipReason::UsedByProbes => "probes call it themselves",
            SkipReason::AlreadyInstrumented => "already instrumented by Trodden",
            SkipReason::Settled => Known::SETTLED,
            SkipReason::Cold => Known::COLD,
            SkipReason::UnknownVersion => "class file version is newer than this build of Trodden knows",
        }
    }
}
