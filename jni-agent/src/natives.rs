//! The native methods of the shim. The JVM finds them by their names: registering natives of a class in java.base would make
//! it print a warning. Each runs inside `guard`.

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jlong, jobject};
use trodden_profile::events::ThreadInfo;

use crate::agent::Agent;
use crate::blocks::Block;
use crate::jvm::Jni;
use crate::jvm::guard::guard;

/// `TroddenThreads.reserve`: address of a new block, or 0.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenThreads_reserve(_: *mut JNIEnv, _: jclass) -> jlong {
    guard("reserving a block", 0, || {
        let block = Agent::get().and_then(|agent| agent.blocks.reserve());
        block.map_or(0, Block::address)
    })
}

/// `TroddenThreads.reserveSmall`: address of a new block for events only.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenThreads_reserveSmall(_: *mut JNIEnv, _: jclass) -> jlong {
    guard("reserving a small block", 0, || {
        Agent::get().map_or(0, |agent| agent.blocks.reserve_small().address())
    })
}

/// `TroddenThreads.open`: the calling thread begins to write to a block.
///
/// # Safety
/// Called by the shim, with an address that a method above returned.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_TroddenThreads_open(
    jni: *mut JNIEnv,
    _: jclass,
    block: jlong,
    thread: jlong,
    name: jobject,
    is_virtual: jboolean,
) {
    guard("opening a stream", (), || {
        // SAFETY: the JVM passes the current thread's environment, valid during this call.
        let jni = unsafe { Jni::from_raw(jni) };
        if let (Some(agent), Some(jni)) = (Agent::get(), jni) {
            let info = ThreadInfo {
                id: thread as u64,
                name: jni.string(name),
                is_virtual: is_virtual != 0,
            };
            // SAFETY: the caller's promise.
            let block = unsafe { Block::from_address(block) };
            agent.streams.thread_begins(block, info);
        }
    });
}

/// `TroddenThreads.drain`: takes in the events of the calling thread's block and empties it.
///
/// # Safety
/// Called by the shim, with the address of a block.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_TroddenThreads_drain(_: *mut JNIEnv, _: jclass, block: jlong) {
    guard("draining events", (), || {
        // SAFETY: the caller's promise.
        let block = unsafe { Block::from_address(block) };
        match Agent::get() {
            Some(agent) => agent.streams.drain(block, || agent.jvmti.frames().ok()),
            None => block.empty(),
        }
    });
}
