//! The native methods of the shim. The JVM finds them by their names in an agent: registering natives of a
//! class in java.base would make it print a warning. Where the library was loaded by `System.load` it does
//! not look, but there they can be registered without one. Each runs inside `guard`.

use std::ffi::{CStr, c_void};

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};
use trodden_instrumenter::MethodId;
use trodden_profile::events::{ThreadInfo, Word};

use crate::jvm::{Jni, JvmError, guard};
use crate::log::error;
use crate::requests::{Counts, Ended};
use crate::session::agent::Agent;
use crate::session::ahead::{self, Request};
use crate::session::by_test::Mark;
use crate::threads::ThreadBlock;

/// The chance of what is certain, as the shim has it.
const ONE: f64 = (1u64 << 32) as f64;

/// Name, descriptor and address of a native method.
type Native = (&'static CStr, &'static CStr, *mut c_void);

/// Name and descriptor of each native method, and its function.
macro_rules! natives {
    ($($name:literal $descriptor:literal $function:ident),*) => {
        [$(($name, $descriptor, ($function as *const ()).cast_mut().cast::<c_void>())),*]
    };
}

/// Registers all of them. Only classes of the JDK may be the caller, or the JVM prints a warning.
pub fn register_all(jni: Jni<'_>) -> Result<(), JvmError> {
    let register = |class: &CStr, natives: &[Native]| {
        let class = jni.find_class(class)?;
        // SAFETY: the functions below have the signatures that the shim declares.
        unsafe { jni.register_natives(class, natives) }
    };
    register(
        c"java/lang/Trodden",
        &natives! { c"test" c"(Ljava/lang/String;JJLjava/lang/String;)V" Java_java_lang_Trodden_test },
    )?;
    register(
        c"java/lang/TroddenThreads",
        &natives! {
            c"reserve" c"()J" Java_java_lang_TroddenThreads_reserve,
            c"reserveSmall" c"()J" Java_java_lang_TroddenThreads_reserveSmall,
            c"open" c"(JJLjava/lang/String;Z)V" Java_java_lang_TroddenThreads_open,
            c"join" c"(JI)Z" Java_java_lang_TroddenThreads_join,
            c"drain" c"(J)V" Java_java_lang_TroddenThreads_drain
        },
    )?;
    register(
        c"java/lang/TroddenFeedback",
        &natives! { c"slots" c"()I" Java_java_lang_TroddenFeedback_slots },
    )?;
    register(
        c"java/lang/TroddenRequests",
        &natives! {
            c"open" c"(J[J[JJ)I" Java_java_lang_TroddenRequests_open,
            c"close" c"(I)V" Java_java_lang_TroddenRequests_close,
            c"name" c"(Ljava/lang/String;)I" Java_java_lang_TroddenRequests_name,
            c"record" c"(IJJIJ[J[JZ)J" Java_java_lang_TroddenRequests_record
        },
    )?;
    register(
        c"java/lang/TroddenAhead",
        &natives! {
            c"register"
            c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;[B)J"
            Java_java_lang_TroddenAhead_register
        },
    )
}

/// `Trodden.test`: what was counted since the last call is that of a test. Called by its listener.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Trodden_test(
    jni: *mut JNIEnv,
    _: jclass,
    name: jobject,
    operations: jlong,
    allocated: jlong,
    max_growth: jobject,
) {
    let mark = |agent: &'static Agent, jni: Jni<'_>| {
        let mark = Mark {
            name: jni.string(name),
            operations: u64::try_from(operations).unwrap_or_default(),
            allocated: u64::try_from(allocated).ok(),
            max_growth: (!max_growth.is_null()).then(|| jni.string(max_growth)),
        };
        agent.marks.mark(&agent.host, jni, mark);
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("counting a test", (), jni, mark) }
}

/// `TroddenFeedback.slots`: one behind the last counter of a block; -1 if paths are not counted exactly.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenFeedback_slots(_: *mut JNIEnv, _: jclass) -> jint {
    guard("numbers of counters", -1, || {
        let end = Agent::get().and_then(Agent::counters);
        end.map_or(-1, |end| end.0 as jint)
    })
}

/// `TroddenRequests.open`: reads the calling thread's counts. Returns the reading's number, or 0.
///
/// # Safety
/// Called by the shim, with the block in which the calling thread alone counts.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_TroddenRequests_open(
    jni: *mut JNIEnv,
    _: jclass,
    block: jlong,
    hash: jobject,
    cuts: jobject,
    chance: jlong,
) -> jint {
    let open = |agent: &'static Agent, env: Jni<'_>| {
        let Some(end) = agent.counters() else { return 0 };
        // SAFETY: the caller's promise. Threads have as many slots as are given out.
        let counts = unsafe { Counts::of_caller(block, end, env, hash, cuts) };
        let chance = chance as f64 / ONE;
        counts.map_or(0, |counts| agent.requests.readings.open(counts, chance)) as jint
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("reading a request's counts", 0, jni, open) }
}

/// `TroddenRequests.close`: a reading is not wanted any more.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenRequests_close(_: *mut JNIEnv, _: jclass, reading: jint) {
    guard("closing a request's reading", (), || {
        if let Some(agent) = Agent::get() {
            agent.requests.readings.close(reading as usize);
        }
    });
}

/// `TroddenRequests.name`: the number of a name.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenRequests_name(
    jni: *mut JNIEnv,
    _: jclass,
    name: jobject,
) -> jint {
    let number =
        |agent: &'static Agent, jni: Jni<'_>| agent.host.registry.requests.number(&jni.string(name)) as jint;
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("naming a request", 0, jni, number) }
}

/// `TroddenRequests.record`: a request has ended. Returns the chance of the next ones, in units of 2^-32.
///
/// # Safety
/// Called by the shim, with the block in which the calling thread alone counts, if there is a reading.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_TroddenRequests_record(
    jni: *mut JNIEnv,
    _: jclass,
    name: jint,
    began: jlong,
    ended: jlong,
    reading: jint,
    block: jlong,
    hash: jobject,
    cuts: jobject,
    elsewhere: jboolean,
) -> jlong {
    let record = |agent: &'static Agent, env: Jni<'_>| {
        let reading = (reading != 0).then(|| {
            let counts = || {
                let end = agent.counters()?;
                // SAFETY: the caller's promise. Threads have as many slots as are given out.
                unsafe { Counts::of_caller(block, end, env, hash, cuts) }
            };
            agent.requests.readings.end(reading as usize, counts)
        });
        let request = Ended {
            name: name as u32,
            began: began as u64,
            ended: ended as u64,
            is_unreadable: elsewhere != 0 || matches!(reading, Some(None)),
            reading: reading.flatten(),
        };
        // Environments of threads are kilobytes apart.
        (agent.requests.record(jni as usize >> 12, request) * ONE) as jlong
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("recording a request", 0, jni, record) }
}

/// `TroddenAhead.register`: an output of `trodden instrument` is in use.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenAhead_register(
    jni: *mut JNIEnv,
    _: jclass,
    unit: jobject,
    options: jobject,
    maps: jobject,
    location: jobject,
    map: jobject,
) -> jlong {
    const NO: jlong = -1;
    let register = |agent: &'static Agent, jni: Jni<'_>| {
        let text = |string| jni.string(string);
        let request = Request {
            unit: text(unit),
            options: text(options),
            maps: text(maps),
            location: text(location),
            map: jni.bytes(map).ok().flatten(),
        };
        match ahead::register(agent, jni, &request) {
            Ok(bases) => i64::from(bases.first_counter.0) << 32 | i64::from(bases.first_method.0),
            Err(reason) => {
                error!(
                    "code instrumented ahead ({}) is not counted: {reason}",
                    request.location
                );
                NO
            }
        }
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("registering code that was instrumented ahead", NO, jni, register) }
}

/// `TroddenThreads.reserve`: address of a new block, or 0.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenThreads_reserve(_: *mut JNIEnv, _: jclass) -> jlong {
    guard("reserving a block", 0, || {
        let block = Agent::get().and_then(|agent| agent.host.blocks.reserve());
        block.map_or(0, ThreadBlock::address)
    })
}

/// `TroddenThreads.reserveSmall`: address of a new block for events only.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_TroddenThreads_reserveSmall(_: *mut JNIEnv, _: jclass) -> jlong {
    guard("reserving a small block", 0, || {
        Agent::get().map_or(0, |agent| agent.host.blocks.reserve_small().address())
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
    let open = |agent: &'static Agent, jni: Jni<'_>| {
        let info = ThreadInfo {
            id: thread as u64,
            name: jni.string(name),
            is_virtual: is_virtual != 0,
        };
        // SAFETY: the caller's promise.
        let block = unsafe { ThreadBlock::from_address(block) };
        if is_virtual == 0 {
            agent.cpu.thread_counts_in(block);
        }
        agent.recording.streams.thread_begins(block, info);
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("opening a stream", (), jni, open) }
}

/// `TroddenThreads.join`: the calling thread, which begins an activation of a method, takes part in a burst.
///
/// # Safety
/// Called by the shim, with the address of a block.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_TroddenThreads_join(
    jni: *mut JNIEnv,
    _: jclass,
    block: jlong,
    upper: jint,
) -> jboolean {
    let join = |agent: &'static Agent, jni: Jni<'_>| {
        // SAFETY: the caller's promise.
        let block = unsafe { ThreadBlock::from_address(block) };
        let method = MethodId(Word(u64::from(upper as u32) << 32).method());
        agent
            .reporter(jni, std::ptr::null_mut())
            .join_burst(block, method)
    };
    // SAFETY: the JVM passes the current thread's environment.
    jboolean::from(unsafe { Agent::on_thread("joining a burst", false, jni, join) })
}

/// `TroddenThreads.drain`: takes in the events of the calling thread's block and empties it. Where the block
/// is watched, it comes before each event.
///
/// # Safety
/// Called by the shim, with the address of a block.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_TroddenThreads_drain(jni: *mut JNIEnv, _: jclass, block: jlong) {
    guard("draining events", (), || {
        // SAFETY: the caller's promise.
        let block = unsafe { ThreadBlock::from_address(block) };
        let Some(agent) = Agent::get() else {
            block.empty();
            return;
        };
        let above = block.look();
        if above == Some(true) && block.has_room() {
            return;
        }
        agent
            .recording
            .streams
            .drain(block, || agent.host.jvmti.frames().ok());
        // SAFETY: the JVM passes the current thread's environment, valid during this call.
        if let (Some(false), Some(jni)) = (above, unsafe { Jni::from_raw(jni) }) {
            agent.reporter(jni, std::ptr::null_mut()).find_before(block);
        }
    });
}
