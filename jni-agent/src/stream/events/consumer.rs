//! A thread that consumes events in place of the threads that report them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use trodden_analyses::stream::ThreadStream;

use crate::jvm::guard::guard;
use crate::locks::lock;

/// Batches that wait for the consumer before producers do.
const QUEUE: usize = 64;

/// A thread of ours that consumes in place of the producers.
pub(super) struct Consumer {
    sender: SyncSender<Message>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum Message {
    Words(Arc<ThreadStream>, Vec<u64>),
    Reached(SyncSender<()>),
    Stop,
}

impl Consumer {
    pub(super) fn start() -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("trodden-events".to_owned())
            .spawn(move || run(&receiver))?;
        Ok(Consumer {
            sender,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Hands a batch over; waits while too many are waiting.
    pub(super) fn send(&self, stream: &Arc<ThreadStream>, words: &[u64]) {
        let batch = Message::Words(Arc::clone(stream), words.to_vec());
        // An error means that the consumer has stopped: the profile is over.
        let _ = self.sender.send(batch);
    }

    /// Waits until all that was sent is consumed.
    pub(super) fn wait(&self) {
        let (reached, here) = sync_channel(1);
        if self.sender.send(Message::Reached(reached)).is_ok() {
            let _ = here.recv();
        }
    }

    /// Ends the thread, after what was sent.
    pub(super) fn stop(&self) {
        let _ = self.sender.send(Message::Stop);
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

fn run(receiver: &Receiver<Message>) {
    for message in receiver {
        match message {
            Message::Words(stream, words) => guard("the consumer of events", (), || stream.consume(&words)),
            Message::Reached(here) => drop(here.send(())),
            Message::Stop => break,
        }
    }
}
