//! The methods of the Java shim that probes call. The agent's tests compare this list with the compiled shim
//! (`java-shim/`).

macro_rules! shim_methods {
    ($($(#[$doc:meta])* $method:ident = $name:literal $descriptor:literal,)*) => {
        /// A method of the shim, all of them static.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ShimMethod {
            $($(#[$doc])* $method,)*
        }

        impl ShimMethod {
            /// Everything that probes may call.
            pub const ALL: &'static [ShimMethod] = &[$(ShimMethod::$method,)*];

            /// Name and descriptor.
            pub const fn signature(self) -> (&'static str, &'static str) {
                match self {
                    $(ShimMethod::$method => ($name, $descriptor),)*
                }
            }
        }
    };
}

shim_methods! {
    /// Returns true if a class loader is asked for the shim.
    IsShim = "isShim" "(Ljava/lang/String;)Z",
    /// `yieldpoint`: a path ended, of a method.
    PathEnd = "pathEnd" "(II)V",
    /// Where the calling thread counts.
    Counters = "counters" "(I)J",
    /// A path ended: one more at an address.
    Count = "count" "(JI)V",
    /// One more, without an address.
    CountAt = "count" "(II)V",
    /// One more, of a method with too many paths for slots.
    CountHashed = "countHashed" "(II)V",
    /// An exception has cut off a path: method, register, block.
    Cut = "cut" "(III)V",
    /// A path of a structure graph ended.
    StructuralPath = "structuralPath" "(II)V",
    /// Like `structuralPath`, but with too many paths for slots.
    StructuralHashed = "structuralHashed" "(II)V",
    /// Execution passed a probe of coverage.
    Covered = "covered" "(I)V",
    /// An activation of a method that handles requests begins; how many it is in.
    RequestBegins = "requestBegins" "(I)I",
    /// It ends.
    RequestEnds = "requestEnds" "(I)V",
    /// The calling thread's block.
    Events = "events" "()J",
    /// The same, if it is not known.
    EventsOnce = "events" "(J)J",
    /// An activation begins; how many are below it.
    Enter = "enter" "(JI)I",
    /// A path ended, where it does not matter of which activation.
    Path = "path" "(JII)V",
    /// A path ended, of the activation at that depth.
    PathAbove = "path" "(JIII)V",
    /// Its last one.
    LastPathAbove = "lastPath" "(JIII)V",
    /// A path ended that is not the activation's only one; how many are below it.
    PathReporting = "pathReporting" "(JIII)I",
    /// The last path ended, or the only one.
    LastOrOnlyPath = "lastOrOnlyPath" "(JIIII)V",
    /// A path ended, of the activation with that caller.
    PathOf = "path" "(JJII)V",
    /// Its last one.
    LastPathOf = "lastPath" "(JJII)V",
    /// A whole activation with one path.
    OnlyPath = "onlyPath" "(II)V",
    /// A path ended, and most are left out.
    PathIfWanted = "pathIfWanted" "(JII)V",
    /// A whole activation with one path, and most are left out.
    OnlyPathIfWanted = "onlyPathIfWanted" "(II)V",
    /// An activation begins, with call sites; its caller's word.
    EnterFrom = "enterFrom" "(JI)J",
    /// A class initialiser begins.
    Initialise = "initialise" "(JI)J",
    /// A call is about to be made.
    Call = "call" "(JJI)V",
    /// An activation ends.
    Exit = "exit" "(JJI)V",
    /// An activation begins, with the paths to calls.
    EnterAlong = "enterAlong" "(JI)J",
    /// A class initialiser begins.
    InitialiseAlong = "initialiseAlong" "(JI)J",
    /// A call is about to be made.
    CallAlong = "callAlong" "(JJIII)V",
    /// An activation ends.
    ExitAlong = "exitAlong" "(JJI)V",
    /// An activation begins, with time.
    EnterTimed = "enterTimed" "(JI)J",
    /// A class initialiser begins.
    InitialiseTimed = "initialiseTimed" "(JI)J",
    /// An activation ends.
    ExitTimed = "exitTimed" "(JJI)V",
    /// In bursts: an activation begins.
    Begins = "begins" "(I)V",
    /// In bursts: a class initialiser begins.
    Initialises = "initialises" "(I)V",
    /// In bursts: a call is about to be made.
    Calls = "calls" "(II)V",
    /// In bursts: an activation ends.
    Ends = "ends" "(I)V",
}
