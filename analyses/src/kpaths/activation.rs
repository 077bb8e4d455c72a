//! The stream that a thread's analyses consume, and the stack of its open activations.

use trodden_profile::events::Word;

/// One event of a thread. Which activation a path belongs to follows from the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActivationEvent {
    /// A method was entered.
    Enter(u32),
    /// The innermost open activation ended a path.
    Path(u64),
    /// The innermost open activation returned, or an exception unwound it.
    Exit,
}

/// Something that learns from the activations of *one* thread. This is what the event pipeline drives.
/// The rules of the stream, for its producers:
///
/// * [`enter`](Self::enter) opens an activation of a method (its index as given out with the probes);
///   [`path`](Self::path) belongs to the innermost open one; [`exit`](Self::exit) closes that one. A call in
///   between does not break the caller's sequence of paths, and a recursive call opens an activation of its
///   own.
/// * An exception that leaves activations closes each of them: [`unwind`](Self::unwind), with how many. The
///   path it abandons is not reported. A handler in the same activation just starts the next path.
/// * A stream may begin in mid-run. `path` and `exit` events of activations that were open before (no `enter`
///   was seen for them) come when the stack is empty, and are ignored.
/// * Where events were lost or not recorded, and when the thread dies, [`abandon`](Self::abandon) says so.
///   What was learned stays; what belongs to activations opened before is ignored from there on.
pub trait ActivationAnalysis {
    /// True if the result is the same when activations of one path come before or after the events of others.
    /// Then they may be reported in another order than they were in.
    const COMMUTES: bool = false;

    /// An activation of `method` begins.
    fn enter(&mut self, method: u32);

    /// The innermost open activation ended path number `path`.
    fn path(&mut self, path: u64);

    /// The innermost open activation ends.
    fn exit(&mut self);

    /// Forgets the open activations, as if none had been entered. Keeps all counts.
    fn abandon(&mut self);

    /// The innermost open activation ended these paths: the low halves of words as in
    /// [`trodden_profile::events`], each below 2^31. The same as [`path`](Self::path) with each of them, only
    /// faster.
    fn paths(&mut self, words: &[u64]) {
        for &word in words {
            self.path(u64::from(word as u32));
        }
    }

    /// A whole activation of `method` that ended one path.
    fn only_path(&mut self, method: u32, path: u64) {
        self.enter(method);
        self.path(path);
        self.exit();
    }

    /// Whole activations that ended one path each: words as in [`trodden_profile::events`], with a path below
    /// 2^31.
    fn only_paths(&mut self, words: &[u64]) {
        for &word in words {
            self.only_path(Word(word).method(), word & u64::from(u32::MAX));
        }
    }

    /// A whole activation of `method` without calls: it ended the paths in the low halves of these words,
    /// each below 2^31.
    fn activation(&mut self, method: u32, words: &[u64]) {
        self.enter(method);
        self.paths(words);
        self.exit();
    }

    /// An exception ends the `activations` innermost activations.
    fn unwind(&mut self, activations: u32) {
        for _ in 0..activations {
            self.exit();
        }
    }

    /// Takes in events one by one.
    fn consume(&mut self, events: &[ActivationEvent]) {
        for &event in events {
            match event {
                ActivationEvent::Enter(method) => self.enter(method),
                ActivationEvent::Path(path) => self.path(path),
                ActivationEvent::Exit => self.exit(),
            }
        }
    }
}

/// Where paths end up, given the state of the activation that each of them belongs to.
///
/// The states are kept outside, on a stack ([`Activations`]): paths only come for the last activation that
/// began and has not ended.
pub trait PathSink {
    /// The state of an activation between two of its paths.
    type Activation: Clone;
    /// [`ActivationAnalysis::COMMUTES`].
    const COMMUTES: bool = false;

    /// The state of an activation of `method` that has ended no path yet.
    fn begin(&self, method: u32) -> Self::Activation;

    /// A path of `activation`, which this very sink began.
    fn path(&mut self, activation: &mut Self::Activation, path: u64);

    /// Paths of `activation`: the low halves of words, each below 2^31.
    #[inline]
    fn paths(&mut self, activation: &mut Self::Activation, words: &[u64]) {
        // The state stays in registers.
        let mut state = activation.clone();
        for &word in words {
            self.path(&mut state, u64::from(word as u32));
        }
        *activation = state;
    }

    /// The activation ends.
    #[inline]
    fn end(&mut self, activation: Self::Activation) {
        let _ = activation;
    }

    /// A whole activation; the paths as in [`paths`](Self::paths).
    #[inline]
    fn activation(&mut self, method: u32, words: &[u64]) {
        let mut activation = self.begin(method);
        self.paths(&mut activation, words);
        self.end(activation);
    }

    /// Whole activations of one path each, as in [`ActivationAnalysis::only_paths`].
    #[inline]
    fn only_paths(&mut self, words: &[u64]) {
        for &word in words {
            self.activation(Word(word).method(), &[word]);
        }
    }

    /// Returns true if [`make_room`](Self::make_room) should be called.
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Takes less memory, if it can; `open` is the whole stack of open activations.
    fn make_room(&mut self, open: &mut [Self::Activation]) {
        let _ = open;
    }
}

/// A sink and the stack of one thread's open activations.
#[derive(Clone, Debug)]
pub struct Activations<S: PathSink> {
    sink: S,
    stack: Vec<S::Activation>,
    ignored: u64,
}

impl<S: PathSink> Activations<S> {
    /// No activation is open.
    pub fn new(sink: S) -> Self {
        Activations {
            sink,
            stack: Vec::new(),
            ignored: 0,
        }
    }

    /// The sink with everything that was learned so far.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The sink after the end of all activations.
    pub fn into_sink(mut self) -> S {
        self.abandon();
        self.sink
    }

    /// The open activations, the outermost first.
    pub fn open(&self) -> &[S::Activation] {
        &self.stack
    }

    #[inline]
    fn check_room(&mut self) {
        if self.sink.is_full() {
            self.sink.make_room(&mut self.stack);
        }
    }

    /// Number of open activations.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Learns into another sink from here on. The open activations, of these methods from the outermost to
    /// the innermost, continue as if they had just begun. Returns the sink so far.
    pub fn restart(&mut self, sink: S, methods: &[u32]) -> S {
        self.abandon();
        self.stack
            .extend(methods.iter().map(|&method| sink.begin(method)));
        self.ignored = 0;
        std::mem::replace(&mut self.sink, sink)
    }

    /// Paths of activations whose beginning was not seen. They are in no count.
    pub fn ignored_paths(&self) -> u64 {
        self.ignored
    }
}

impl<S: PathSink> ActivationAnalysis for Activations<S> {
    const COMMUTES: bool = S::COMMUTES;

    #[inline]
    fn enter(&mut self, method: u32) {
        self.stack.push(self.sink.begin(method));
    }

    #[inline]
    fn path(&mut self, path: u64) {
        match self.stack.last_mut() {
            Some(activation) => self.sink.path(activation, path),
            None => self.ignored += 1,
        }
        self.check_room();
    }

    #[inline]
    fn exit(&mut self) {
        if let Some(activation) = self.stack.pop() {
            self.sink.end(activation);
        }
        self.check_room();
    }

    #[inline]
    fn paths(&mut self, words: &[u64]) {
        match self.stack.last_mut() {
            Some(activation) => self.sink.paths(activation, words),
            None => self.ignored += words.len() as u64,
        }
        self.check_room();
    }

    #[inline]
    fn only_path(&mut self, method: u32, path: u64) {
        if path < 1 << 31 {
            self.sink.activation(method, &[path]);
        } else {
            let mut activation = self.sink.begin(method);
            self.sink.path(&mut activation, path);
            self.sink.end(activation);
        }
        self.check_room();
    }

    #[inline]
    fn only_paths(&mut self, words: &[u64]) {
        self.sink.only_paths(words);
        self.check_room();
    }

    #[inline]
    fn activation(&mut self, method: u32, words: &[u64]) {
        self.sink.activation(method, words);
        self.check_room();
    }

    fn unwind(&mut self, activations: u32) {
        for _ in 0..self.stack.len().min(activations as usize) {
            self.exit();
        }
    }

    fn abandon(&mut self) {
        while let Some(activation) = self.stack.pop() {
            self.sink.end(activation);
        }
        self.check_room();
    }

    fn consume(&mut self, events: &[ActivationEvent]) {
        let mut events = events.iter();
        while let Some(&event) = events.next() {
            match (event, self.stack.last_mut()) {
                (ActivationEvent::Enter(method), _) => self.enter(method),
                (ActivationEvent::Exit, _) => self.exit(),
                (ActivationEvent::Path(_), None) => self.ignored += 1,
                (ActivationEvent::Path(path), Some(activation)) => {
                    // All paths up to the next entry or exit at once, so that the state stays in registers.
                    let mut state = activation.clone();
                    self.sink.path(&mut state, path);
                    while let Some(&ActivationEvent::Path(path)) = events.as_slice().first() {
                        self.sink.path(&mut state, path);
                        events.next();
                    }
                    *activation = state;
                    self.check_room();
                }
            }
        }
    }
}
