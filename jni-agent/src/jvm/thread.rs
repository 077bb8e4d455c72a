//! Attaching our own threads to the JVM.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use jvmti_bindings::sys::jni::{JNI_VERSION_1_8, JNIEnv, JavaVM, JavaVMAttachArgs, jobject};
use jvmti_bindings::sys::jvmti::{JVMTI_VERSION_11, jvmtiEnv};

use super::error::JvmError;
use super::jni::Jni;
use super::jvmti::Jvmti;

/// The JVM we live in.
#[derive(Clone, Copy)]
pub struct Vm(*mut JavaVM);

// SAFETY: the invocation interface is made to be used from any thread; the JVM outlives the agent.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

impl Vm {
    /// Wraps the pointer that the JVM passed to an agent's entry function.
    ///
    /// # Safety
    /// The live JVM of this process.
    pub unsafe fn from_raw(vm: *mut JavaVM) -> Self {
        Vm(vm)
    }

    /// A new JVMTI environment (version 11, understood by 17 and all newer ones).
    pub fn jvmti(self) -> Result<Jvmti, JvmError> {
        let env = self.environment(JVMTI_VERSION_11)?;
        // SAFETY: GetEnv with a JVMTI version returns a fresh JVMTI environment; we never dispose of it.
        let jvmti = unsafe { Jvmti::from_raw(env.cast::<jvmtiEnv>()) };
        jvmti.ok_or(JvmError::Missing {
            call: "GetEnv(JVMTI)",
        })
    }

    /// The calling thread's JNI environment; it must be attached.
    pub fn jni<'e>(self) -> Result<Jni<'e>, JvmError> {
        let env = self.environment(JNI_VERSION_1_8)?;
        // SAFETY: GetEnv returned the current thread's environment. `'e` is the caller's to keep within the
        // attachment.
        let jni = unsafe { Jni::from_raw(env.cast::<JNIEnv>()) };
        jni.ok_or(JvmError::Missing { call: "GetEnv(JNI)" })
    }

    /// The calling thread's environment; null if it is not attached. For threads that are or were attached
    /// this reads the thread's own memory only, so a signal handler may ask.
    pub fn env(self) -> *mut JNIEnv {
        self.environment(JNI_VERSION_1_8)
            .map_or(null_mut(), |env| env.cast())
    }

    /// An address inside the JVM's code.
    pub fn code_address(self) -> *const c_void {
        // SAFETY: `self.0` is the live JVM.
        unsafe { (**self.0).GetEnv as *const c_void }
    }

    fn environment(self, version: i32) -> Result<*mut c_void, JvmError> {
        let mut env = null_mut();
        // SAFETY: `self.0` is the live JVM; `env` is a live local.
        let code = unsafe { ((**self.0).GetEnv)(self.0, &mut env, version) };
        JvmError::check("GetEnv", code).map(|()| env)
    }

    /// Runs a body on the calling native thread, attached as a daemon of the system thread group, so that
    /// neither the JVM's end nor a program that counts its threads is bothered.
    pub fn attached<T>(
        self,
        jvmti: Jvmti,
        name: &str,
        body: impl FnOnce(Jni<'_>) -> T,
    ) -> Result<T, JvmError> {
        let name = CString::new(name).unwrap_or_default();
        self.attach(&name, null_mut())?;
        // The system group can be asked for only by an attached thread: attach, ask, and come back as its
        // member.
        let group = self.jni().and_then(|jni| {
            let group = jvmti.system_thread_group()?;
            Ok(jni.global(group))
        });
        if let Ok(group) = group {
            self.detach();
            self.attach(&name, group.raw())?;
        }
        let result = self.jni().map(|jni| {
            if let Ok(group) = group {
                jni.delete_global(group);
            }
            body(jni)
        });
        self.detach();
        result
    }

    fn attach(self, name: &CString, group: jobject) -> Result<(), JvmError> {
        let mut args = JavaVMAttachArgs {
            version: JNI_VERSION_1_8,
            name: name.as_ptr().cast_mut(),
            group,
        };
        let mut env = null_mut();
        // SAFETY: live JVM, live locals; `group` is null or a global reference to a thread group.
        let code = unsafe {
            ((**self.0).AttachCurrentThreadAsDaemon)(self.0, &mut env, (&raw mut args).cast::<c_void>())
        };
        JvmError::check("AttachCurrentThreadAsDaemon", code)
    }

    fn detach(self) {
        // SAFETY: live JVM; the calling thread is attached and has no Java frames.
        unsafe { ((**self.0).DetachCurrentThread)(self.0) };
    }
}
