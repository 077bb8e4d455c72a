//! The functions that the JVM calls. Each runs inside `guard`: nothing unwinds into the JVM.

mod natives;

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::sync::Mutex;

use jvmti_bindings::sys::jni::{
    JNI_VERSION_1_8, JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jmethodID, jobject, jvalue,
};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, jlocation, jvmtiEnv, jvmtiEventCallbacks,
};
use trodden_instrumenter::{Filter, ProbeKind};
use trodden_profile::options::{Action, AgentCommand};

use crate::classes::hook;
use crate::host::Granted;
use crate::jvm::{ClassRef, InnermostFrame, Jni, JvmError, Jvmti, Vm, guard};
use crate::log::{debug, error, info, warning};
use crate::recorders::UnderWay;
use crate::session::agent::Agent;
use crate::session::{control, fleet, spool};
use crate::settings::{apply_log_options, probe_kind};
use crate::threads::Shim;

/// The command of the command line, kept from Agent_OnLoad until the JVM is up.
static PENDING: Mutex<Option<AgentCommand>> = Mutex::new(None);

/// Called at JVM start-up (`-agentpath:…/libtrodden.so=OPTIONS`). Never fails: the program runs in any case.
///
/// # Safety
/// Called by the JVM, with its own pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _: *mut c_void) -> jint {
    guard("Agent_OnLoad", 0, || {
        // SAFETY: the JVM passes itself and a C string or null.
        let (vm, text) = unsafe { (Vm::from_raw(vm), text(options)) };
        let Some(command) = parse(&text) else {
            return 0;
        };
        apply_log_options(&command.options);
        if let Err(e) = load(vm, command) {
            error!("{e}; the program runs without profiling");
        }
        0
    })
}

fn load(vm: Vm, command: AgentCommand) -> Result<(), JvmError> {
    let jvmti = vm.jvmti()?;
    if is_skipped(jvmti, &command.options.code.skip_main) {
        return Ok(());
    }
    if Agent::get().is_some() {
        // A build's plugin and `trodden run` may both name this file.
        warning!("{}", JvmError::OtherAgent);
        return Ok(());
    }
    // Frames can be read only if that was asked for now; it is asked for only if it is wanted, as it slows
    // nothing else but should not be held for nothing.
    let reads_frames =
        probe_kind(&command.options) == ProbeKind::Safepoint || command.options.reads_open_paths();
    let wants_frames = reads_frames && fleet::is_drawn(&command.options);
    let frames = wants_frames && add_capabilities(jvmti, true).is_ok();
    if !frames {
        add_capabilities(jvmti, false)?;
    }
    let may_burst = command.action == Action::Start && command.options.bursts_unless_told();
    let wants_events = command.options.has_events_of_jvm() || may_burst;
    let wants_steps = wants_events && command.options.follows_steps() && InnermostFrame::is_known(vm);
    let method_events = wants_events && add_method_events(jvmti, wants_steps).is_ok();
    let granted = Granted {
        frames,
        method_events,
        steps: method_events && wants_steps,
    };
    Agent::create(vm, jvmti, false, granted);
    *PENDING.lock().unwrap_or_else(|e| e.into_inner()) = Some(command);
    set_callbacks(jvmti)
}

/// True for a JVM that shall be left alone. A program that makes its JVM itself does not name a main class:
/// it is not left alone.
fn is_skipped(jvmti: Jvmti, patterns: &[String]) -> bool {
    let command = jvmti.system_property("sun.java.command").unwrap_or_default();
    let main = command.split(' ').next().unwrap_or_default().replace('.', "/");
    let skipped = patterns.iter().any(|pattern| {
        let filter = Filter::new(&[pattern], &[]);
        filter.is_ok_and(|filter| !main.is_empty() && filter.class(&main))
    });
    if skipped {
        debug!("left alone: {command}");
    }
    skipped
}

fn add_capabilities(jvmti: Jvmti, frames: bool) -> Result<(), JvmError> {
    jvmti.add_capabilities(|set| {
        set.set_can_retransform_classes(true);
        // They cost nothing where they are not switched on.
        set.set_can_generate_garbage_collection_events(true);
        set.set_can_access_local_variables(frames);
        set.set_can_suspend(frames);
    })
}

fn add_method_events(jvmti: Jvmti, steps: bool) -> Result<(), JvmError> {
    jvmti.add_capabilities(|set| {
        set.set_can_generate_method_entry_events(true);
        // For who may ask for these compiled code throws by way of the interpreter. Steps do without.
        set.set_can_generate_method_exit_events(!steps);
        set.set_can_generate_single_step_events(steps);
    })
}

fn set_callbacks(jvmti: Jvmti) -> Result<(), JvmError> {
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(vm_init);
    callbacks.VMDeath = Some(vm_death);
    callbacks.ThreadStart = Some(thread_start);
    callbacks.ThreadEnd = Some(thread_end);
    callbacks.VirtualThreadEnd = Some(thread_end);
    callbacks.ClassLoad = Some(class_load);
    callbacks.ClassPrepare = Some(class_prepare);
    callbacks.ClassFileLoadHook = Some(class_file_load_hook);
    callbacks.SampledObjectAlloc = Some(sampled_object_alloc);
    callbacks.MethodEntry = Some(method_entry);
    callbacks.MethodExit = Some(method_exit);
    callbacks.SingleStep = Some(single_step);
    callbacks.GarbageCollectionStart = Some(collection_begins);
    callbacks.GarbageCollectionFinish = Some(collection_ends);
    jvmti.set_callbacks(&callbacks)?;
    jvmti.notify(JVMTI_EVENT_VM_INIT, true)?;
    jvmti.notify(JVMTI_EVENT_VM_DEATH, true)
}

/// Called when the agent is loaded into a running JVM, the first time and for every further command.
///
/// # Safety
/// Called by the JVM, with its own pointers, on an attached thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    const FAILED: jint = 1;
    guard("Agent_OnAttach", FAILED, || {
        // SAFETY: the JVM passes itself and a C string or null.
        let (vm, text) = unsafe { (Vm::from_raw(vm), text(options)) };
        let Some(command) = parse(&text) else {
            return FAILED;
        };
        let attached = || -> Result<bool, JvmError> {
            let agent = match Agent::get() {
                Some(agent) => {
                    // Code that was instrumented ahead has loaded it without any.
                    let _ = add_capabilities(agent.host.jvmti, false);
                    agent
                }
                None => create_late(vm, |jvmti| add_capabilities(jvmti, false))?,
            };
            Ok(control::run(agent, vm.jni()?, command))
        };
        match attached() {
            Ok(true) => 0,
            Ok(false) => FAILED,
            Err(e) => {
                control::refuse(&text, &e);
                FAILED
            }
        }
    })
}

/// Makes the agent in a JVM that runs already, with what `prepare` wants of it.
fn create_late(
    vm: Vm,
    prepare: impl FnOnce(Jvmti) -> Result<(), JvmError>,
) -> Result<&'static Agent, JvmError> {
    let jvmti = vm.jvmti()?;
    prepare(jvmti)?;
    let agent = Agent::create(vm, jvmti, true, Granted::default());
    set_callbacks(jvmti)?;
    Ok(agent)
}

/// Called when Java code loads the library, as code does that was instrumented ahead: it starts nothing by
/// itself.
///
/// # Safety
/// Called by the JVM, with its own pointers, on an attached thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut JavaVM, _: *mut c_void) -> jint {
    guard("JNI_OnLoad", JNI_VERSION_1_8, || {
        // SAFETY: the JVM passes itself.
        let vm = unsafe { Vm::from_raw(vm) };
        let prepare = || -> Result<(), JvmError> {
            let agent = match Agent::get() {
                Some(agent) => agent,
                None => create_late(vm, |_| Ok(()))?,
            };
            let jni = vm.jni()?;
            let _control = agent.control();
            agent.shim(jni, 0)?;
            natives::register_all(jni)
        };
        if let Err(e) = prepare() {
            error!("{e}; the program runs without profiling (a JVM from Java 17 on is needed)");
        }
        JNI_VERSION_1_8
    })
}

/// Called before the library is unloaded, at the very end. Everything was done at the JVM's death.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnUnload(_: *mut JavaVM) {
    guard("Agent_OnUnload", (), || info!("unloaded"));
}

fn parse(text: &str) -> Option<AgentCommand> {
    match AgentCommand::parse(text) {
        Ok(command) => Some(command),
        Err(e) => {
            control::refuse(text, &e);
            None
        }
    }
}

/// # Safety
/// A C string or null.
unsafe fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
}

unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jobject) {
    guard("VMInit", (), || {
        let command = PENDING.lock().unwrap_or_else(|e| e.into_inner()).take();
        // SAFETY: the JVM passes the current thread's environment, valid during this call.
        let jni = unsafe { Jni::from_raw(jni) };
        let Some(agent) = Agent::get() else { return };
        if let (Some(command), Some(jni)) = (command, jni) {
            if Shim::is_another(jni) {
                warning!("{}", JvmError::OtherAgent);
                return;
            }
            if !control::run(agent, jni, command) {
                warning!("the program runs without profiling");
            }
        }
        agent.host.set_up();
    });
}

unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    let dies = |agent: &'static Agent, jni: Jni<'_>| {
        let mut control = agent.control();
        control.ended = true;
        // A profile that was stopped has been written then.
        if control.running() {
            agent.pause(jni, &mut control);
            // Probes are still in.
            match spool::finish(agent, jni, &mut control, None, UnderWay::Open) {
                Ok(written) => {
                    for file in [written.file, written.window].into_iter().flatten() {
                        info!("profile written to {}", file.display());
                    }
                }
                Err(e) => error!("{e}"),
            }
        }
        control.windows.give_up();
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("VMDeath", (), jni, dies) }
}

unsafe extern "system" fn thread_start(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jobject) {
    let start = |agent: &'static Agent, jni: Jni<'_>| {
        agent.cpu.thread_starts(&agent.host, jni, thread);
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("ThreadStart", (), jni, start) }
}

unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jobject) {
    let report = |agent: &'static Agent, jni: Jni<'_>| {
        agent.cpu.thread_ends(&agent.host, jni, thread);
        agent.reporter(jni, thread).ends();
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("ThreadEnd", (), jni, report) }
}

/// Nothing is to be done: the JVM walks stacks in signal handlers only if an agent listens.
unsafe extern "system" fn class_load(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jobject, _: jclass) {}

unsafe extern "system" fn class_prepare(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jobject, class: jclass) {
    let register = |agent: &'static Agent, jni: Jni<'_>| {
        agent.cpu.class_prepared(&agent.host, jni, ClassRef::of(class));
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("ClassPrepare", (), jni, register) }
}

unsafe extern "system" fn method_entry(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
) {
    let report = |agent: &'static Agent, jni: Jni<'_>| agent.reporter(jni, thread).entered(method);
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("MethodEntry", (), jni, report) }
}

unsafe extern "system" fn method_exit(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    by_exception: jboolean,
    value: jvalue,
) {
    let report = |agent: &'static Agent, jni: Jni<'_>| {
        // SAFETY: a union of plain values, of which any may be read as a pointer; that of a method that
        // returns no reference is not looked at.
        let result = (by_exception == 0).then_some(unsafe { value.l });
        agent.reporter(jni, thread).exited(method, result)
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("MethodExit", (), jni, report) }
}

unsafe extern "system" fn single_step(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    location: jlocation,
) {
    let report = |agent: &'static Agent, jni: Jni<'_>| {
        if let Ok(bci) = u32::try_from(location) {
            agent.reporter(jni, thread).stepped(method, bci);
        }
    };
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("SingleStep", (), jni, report) }
}

/// The program is stopped: no function of the JVM may be called.
unsafe extern "system" fn collection_begins(_: *mut jvmtiEnv) {
    guard("GarbageCollectionStart", (), || {
        if let Some(agent) = Agent::get() {
            agent.requests.collections.begins();
        }
    });
}

unsafe extern "system" fn collection_ends(_: *mut jvmtiEnv) {
    guard("GarbageCollectionFinish", (), || {
        if let Some(agent) = Agent::get() {
            agent.requests.collections.ends();
        }
    });
}

unsafe extern "system" fn sampled_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    _: jobject,
    _: jclass,
    size: jlong,
) {
    let report =
        |agent: &'static Agent, jni: Jni<'_>| agent.reporter(jni, thread).allocated(size.max(0) as u64);
    // SAFETY: the JVM passes the current thread's environment.
    unsafe { Agent::on_thread("SampledObjectAlloc", (), jni, report) }
}

unsafe extern "system" fn class_file_load_hook(
    jvmti: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    _domain: jobject,
    length: jint,
    bytes: *const c_uchar,
    new_length: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    guard("ClassFileLoadHook", (), || {
        let Some(agent) = Agent::get() else { return };
        let Some(settings) = agent.host.active() else {
            return;
        };
        // SAFETY: the JVM passes a modified UTF-8 C string or null.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
        // SAFETY: the JVM passes `length` readable bytes, valid during this call.
        let class = unsafe { std::slice::from_raw_parts(bytes, length.max(0) as usize) };
        // SAFETY: the JVM passes the current thread's environment, valid during this call.
        let jni = unsafe { Jni::from_raw(jni) };
        let make_room = |probes| {
            let (Some(jni), Some(shim)) = (jni, agent.host.shim_if_defined()) else {
                return false;
            };
            shim.make_room(jni, probes)
        };
        let registry = &agent.host.registry;
        let Some(rewritten) = hook::instrument(&settings, registry, make_room, name.as_deref(), class) else {
            return;
        };
        // SAFETY: the JVM passes our own, valid environment.
        let jvmti = unsafe { Jvmti::from_raw(jvmti) };
        match jvmti.map(|jvmti| jvmti.allocate_copy(&rewritten)) {
            // SAFETY: out-parameters of this call; the memory was allocated by JVMTI, as it must be.
            Some(Ok(copy)) => unsafe {
                *new_length = rewritten.len() as jint;
                *new_bytes = copy;
            },
            Some(Err(e)) => warning!("a class stays as it is: {e}"),
            None => {}
        }
    });
}
