//! JVMTI, as much of it as the agent needs.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{NonNull, null_mut};

use jvmti_bindings::sys::jni::{jint, jlong, jmethodID, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_DISABLE, JVMTI_ENABLE, jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEvent, jvmtiEventCallbacks,
    jvmtiFrameInfo, jvmtiThreadInfo,
};

use super::error::JvmError;
use super::jni::ClassRef;
use super::turns::turn;

/// The agent's JVMTI environment. Usable from any thread that is attached to the JVM.
#[derive(Clone, Copy)]
pub struct Jvmti(NonNull<jvmtiEnv>);

// SAFETY: a JVMTI environment belongs to the agent, not to a thread; its functions may be called from any
// attached thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above; JVMTI functions are thread-safe.
unsafe impl Sync for Jvmti {}

/// Calls a function of the JVMTI table: `Err` unless it answers JVMTI_ERROR_NONE.
macro_rules! jvmti {
    ($jvmti:expr, $name:ident $(, $arg:expr)*) => {{
        let call = stringify!($name);
        let env = $jvmti.0.as_ptr();
        // SAFETY: `env` is a valid JVMTI environment (see the module comment of `jvm`), so the table is
        // there.
        match unsafe { (*(*env).functions).$name } {
            // SAFETY: the function comes from the JVM's own table; references given out by this JVM or
            // pointers to live locals are passed.
            Some(function) => match unsafe { function(env $(, $arg)*) } {
                jvmtiError::NONE => Ok(()),
                error => Err(JvmError::Jvmti { call, error }),
            },
            None => Err(JvmError::Missing { call }),
        }
    }};
}

/// The value that a function of the JVMTI table writes to its last argument, which begins with another.
macro_rules! answer {
    ($jvmti:expr, $begin:expr, $name:ident $(, $arg:expr)*) => {{
        let mut answer = $begin;
        jvmti!($jvmti, $name $(, $arg)*, &mut answer).map(|()| answer)
    }};
}

/// The array that a function of the JVMTI table allocates: its last arguments are for its length and address.
macro_rules! array {
    ($jvmti:expr, $name:ident $(, $arg:expr)*) => {{
        let (mut count, mut data) = (0, null_mut());
        jvmti!($jvmti, $name $(, $arg)*, &mut count, &mut data).map(|()| JvmtiArray {
            jvmti: $jvmti,
            data,
            length: count.max(0) as usize,
        })
    }};
}

/// An array allocated by JVMTI; freed on drop.
pub struct JvmtiArray<T> {
    jvmti: Jvmti,
    data: *mut T,
    length: usize,
}

impl<T> std::ops::Deref for JvmtiArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: JVMTI returned `length` initialised elements at `data`, and they are freed on drop only.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }
}

impl<T> Drop for JvmtiArray<T> {
    fn drop(&mut self) {
        self.jvmti.deallocate(self.data.cast());
    }
}

/// A thread, as a local reference.
pub type ThreadRef = jobject;

impl Jvmti {
    /// Wraps an environment pointer.
    ///
    /// # Safety
    /// Null, or a valid environment that is never disposed of.
    pub unsafe fn from_raw(env: *mut jvmtiEnv) -> Option<Self> {
        NonNull::new(env).map(Jvmti)
    }

    /// Adds the capabilities that `set` sets.
    pub fn add_capabilities(self, set: impl FnOnce(&mut jvmtiCapabilities)) -> Result<(), JvmError> {
        let mut capabilities = jvmtiCapabilities::default();
        set(&mut capabilities);
        jvmti!(self, AddCapabilities, &capabilities)
    }

    /// Sets the event callbacks.
    pub fn set_callbacks(self, callbacks: &jvmtiEventCallbacks) -> Result<(), JvmError> {
        jvmti!(
            self,
            SetEventCallbacks,
            callbacks,
            size_of::<jvmtiEventCallbacks>() as jint
        )
    }

    /// Switches an event on or off, for all threads.
    pub fn notify(self, event: jvmtiEvent, on: bool) -> Result<(), JvmError> {
        jvmti!(
            self,
            SetEventNotificationMode,
            if on { JVMTI_ENABLE } else { JVMTI_DISABLE },
            event,
            null_mut()
        )
    }

    /// A copy of bytes in JVMTI's memory, whose ownership goes to the JVM.
    pub fn allocate_copy(self, bytes: &[u8]) -> Result<*mut u8, JvmError> {
        let mut memory = null_mut();
        jvmti!(self, Allocate, bytes.len() as jlong, &mut memory)?;
        // SAFETY: Allocate returned at least `bytes.len()` fresh bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Ok(memory)
    }

    fn deallocate(self, memory: *mut u8) {
        if !memory.is_null() {
            let _ = jvmti!(self, Deallocate, memory);
        }
    }

    /// Takes over a string that JVMTI allocated.
    fn text(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: JVMTI returns NUL-terminated strings, ours until deallocated.
        let owned = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.deallocate(text.cast());
        owned
    }

    /// All loaded classes, as local references: use a frame.
    pub fn loaded_classes(self) -> Result<Vec<ClassRef>, JvmError> {
        let classes = array!(self, GetLoadedClasses)?;
        Ok(classes.iter().map(|&c| ClassRef(c)).collect())
    }

    /// A class's internal name (`a/b/C`); `None` for arrays and primitives. Hidden classes have a dot in
    /// theirs.
    pub fn class_name(self, class: ClassRef) -> Result<Option<String>, JvmError> {
        let mut signature = null_mut();
        jvmti!(self, GetClassSignature, class.0, &mut signature, null_mut())?;
        let signature = self.text(signature);
        Ok(signature
            .strip_prefix('L')
            .and_then(|s| s.strip_suffix(';'))
            .map(str::to_owned))
    }

    /// The methods that a class declares. Each has an id from here on.
    pub fn class_methods(self, class: ClassRef) -> Result<JvmtiArray<jmethodID>, JvmError> {
        let _turn = turn();
        array!(self, GetClassMethods, class.0)
    }

    /// True for native methods. The method's class must be loaded.
    pub fn is_native(self, method: jmethodID) -> Result<bool, JvmError> {
        Ok(answer!(self, 0, IsMethodNative, method)? != 0)
    }

    /// CPU time of a thread in nanoseconds; needs `can_get_thread_cpu_time`.
    pub fn thread_cpu_time(self, thread: ThreadRef) -> Result<u64, JvmError> {
        let nanos = answer!(self, 0, GetThreadCpuTime, thread)?;
        Ok(nanos.max(0) as u64)
    }

    /// The identity hash of a thread's object.
    pub fn object_hash(self, thread: ThreadRef) -> Result<jint, JvmError> {
        answer!(self, 0, GetObjectHashCode, thread)
    }

    /// True if this class may be retransformed.
    pub fn is_modifiable(self, class: ClassRef) -> bool {
        answer!(self, 0, IsModifiableClass, class.0).is_ok_and(|yes| yes != 0)
    }

    /// Sends classes through the class file load hook again, all or none.
    pub fn retransform(self, classes: &[ClassRef]) -> Result<(), JvmError> {
        let raw: Vec<jobject> = classes.iter().map(|c| c.0).collect();
        jvmti!(self, RetransformClasses, raw.len() as jint, raw.as_ptr())
    }

    /// A system property as the JVM knows it.
    pub fn system_property(self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let value = answer!(self, null_mut(), GetSystemProperty, name.as_ptr()).ok()?;
        Some(self.text(value))
    }

    /// The system thread group, as a local reference: the root of all.
    pub fn system_thread_group(self) -> Result<jobject, JvmError> {
        let groups = array!(self, GetTopThreadGroups)?;
        Ok(groups.first().copied().unwrap_or(null_mut()))
    }

    /// All live platform threads, as local references: use a frame.
    pub fn threads(self) -> Result<JvmtiArray<ThreadRef>, JvmError> {
        array!(self, GetAllThreads)
    }

    /// The calling thread, as a local reference.
    pub fn current_thread(self) -> Result<ThreadRef, JvmError> {
        answer!(self, null_mut(), GetCurrentThread)
    }

    /// A thread's name.
    pub fn thread_name(self, thread: ThreadRef) -> Result<String, JvmError> {
        let mut info = jvmtiThreadInfo {
            name: null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: null_mut(),
            context_class_loader: null_mut(),
        };
        jvmti!(self, GetThreadInfo, thread, &mut info)?;
        Ok(self.text(info.name))
    }

    /// A thread's state bits.
    pub fn thread_state(self, thread: ThreadRef) -> Result<jint, JvmError> {
        answer!(self, 0, GetThreadState, thread)
    }

    /// Suspends threads; returns for each whether it worked.
    pub fn suspend(self, threads: &[ThreadRef]) -> Result<Vec<bool>, JvmError> {
        let mut results = vec![jvmtiError::INTERNAL; threads.len()];
        jvmti!(
            self,
            SuspendThreadList,
            threads.len() as jint,
            threads.as_ptr(),
            results.as_mut_ptr()
        )?;
        Ok(results.iter().map(|&r| r == jvmtiError::NONE).collect())
    }

    /// Resumes threads suspended by us.
    pub fn resume(self, threads: &[ThreadRef]) -> Result<(), JvmError> {
        let mut results = vec![jvmtiError::INTERNAL; threads.len()];
        jvmti!(
            self,
            ResumeThreadList,
            threads.len() as jint,
            threads.as_ptr(),
            results.as_mut_ptr()
        )
    }

    /// How many frames the calling thread's stack has.
    pub fn frames(self) -> Result<u32, JvmError> {
        let count = answer!(self, 0, GetFrameCount, null_mut())?;
        Ok(count.max(0) as u32)
    }

    /// True for an old version of a method, of a class that has been redefined since.
    pub fn is_obsolete(self, method: jmethodID) -> bool {
        answer!(self, 0, IsMethodObsolete, method).is_ok_and(|yes| yes != 0)
    }

    /// Bytes of code of a method that is not native or abstract.
    pub fn code_length(self, method: jmethodID) -> Result<u32, JvmError> {
        let (mut first, mut last) = (0, 0);
        jvmti!(self, GetMethodLocation, method, &mut first, &mut last)?;
        Ok(u32::try_from(last + 1).unwrap_or_default())
    }

    /// Where the lines of a method begin: bytecode index and line, ascending. None for methods without line
    /// numbers; needs `can_get_line_numbers`.
    pub fn lines(self, method: jmethodID) -> Vec<(u16, u16)> {
        let Ok(entries) = array!(self, GetLineNumberTable, method) else {
            return Vec::new();
        };
        let entries = entries.iter().filter_map(|entry| {
            let start = u16::try_from(entry.start_location).ok()?;
            Some((start, u16::try_from(entry.line_number).ok()?))
        });
        let mut lines: Vec<(u16, u16)> = entries.collect();
        lines.sort_by_key(|&(start, _)| start);
        lines
    }

    /// A class's constants as class files have them, and their number; needs `can_get_constant_pool`.
    pub fn constant_pool(self, class: ClassRef) -> Result<(u16, Vec<u8>), JvmError> {
        let mut number = 0;
        let bytes: JvmtiArray<u8> = array!(self, GetConstantPool, class.0, &mut number)?;
        Ok((u16::try_from(number).unwrap_or_default(), bytes.to_vec()))
    }

    /// A method's instructions as class files have them; needs `can_get_bytecodes`.
    pub fn bytecodes(self, method: jmethodID) -> Result<Vec<u8>, JvmError> {
        let bytes: JvmtiArray<u8> = array!(self, GetBytecodes, method)?;
        Ok(bytes.to_vec())
    }

    /// Number of slots of a method's local variables.
    pub fn max_locals(self, method: jmethodID) -> Result<u16, JvmError> {
        let slots = answer!(self, 0, GetMaxLocals, method)?;
        Ok(u16::try_from(slots).unwrap_or(u16::MAX))
    }

    /// A class's modifiers, as class files have them.
    pub fn class_modifiers(self, class: ClassRef) -> Result<u16, JvmError> {
        Ok(answer!(self, 0, GetClassModifiers, class.0)? as u16)
    }

    /// A method's modifiers, as class files have them.
    pub fn method_modifiers(self, method: jmethodID) -> Result<u16, JvmError> {
        Ok(answer!(self, 0, GetMethodModifiers, method)? as u16)
    }

    /// The name of a class's source file, if it has one; needs `can_get_source_file_name`.
    pub fn source_file(self, class: ClassRef) -> Option<String> {
        let name = answer!(self, null_mut(), GetSourceFileName, class.0).ok()?;
        Some(self.text(name))
    }

    /// Mean number of bytes between allocations that are reported; 0: all are.
    pub fn set_heap_sampling_interval(self, bytes: u32) -> Result<(), JvmError> {
        jvmti!(self, SetHeapSamplingInterval, bytes as jint)
    }

    /// The number kept for the calling thread, virtual ones included; 0 if there is none.
    pub fn thread_data(self) -> usize {
        let data = answer!(self, null_mut(), GetThreadLocalStorage, null_mut());
        data.map_or(0, |data| data.addr())
    }

    /// Keeps a number for the calling thread.
    pub fn set_thread_data(self, data: usize) -> Result<(), JvmError> {
        let data = std::ptr::without_provenance::<std::ffi::c_void>(data);
        jvmti!(self, SetThreadLocalStorage, null_mut(), data)
    }

    /// A thread's innermost frames into a buffer; returns how many. Null: the calling thread's.
    pub fn stack(self, thread: ThreadRef, frames: &mut [jvmtiFrameInfo]) -> Result<usize, JvmError> {
        self.stack_from(thread, 0, frames)
    }

    /// The same from a depth on: 0 is the innermost frame. An error if there are not that many frames.
    pub fn stack_from(
        self,
        thread: ThreadRef,
        depth: usize,
        frames: &mut [jvmtiFrameInfo],
    ) -> Result<usize, JvmError> {
        let _turn = turn();
        let (depth, most) = (depth as jint, frames.len() as jint);
        let count = answer!(self, 0, GetStackTrace, thread, depth, most, frames.as_mut_ptr())?;
        Ok(count.max(0) as usize)
    }

    /// An `int` local of a frame of a suspended thread.
    pub fn local_int(self, thread: ThreadRef, depth: usize, slot: u16) -> Result<jint, JvmError> {
        answer!(self, 0, GetLocalInt, thread, depth as jint, slot.into())
    }

    /// Name and descriptor of a method of a frame just seen.
    pub fn method_name(self, method: jmethodID) -> Result<(String, String), JvmError> {
        let (mut name, mut descriptor) = (null_mut(), null_mut());
        jvmti!(
            self,
            GetMethodName,
            method,
            &mut name,
            &mut descriptor,
            null_mut()
        )?;
        Ok((self.text(name), self.text(descriptor)))
    }

    /// The class of a method of a frame just seen, as a local reference.
    pub fn declaring_class(self, method: jmethodID) -> Result<ClassRef, JvmError> {
        answer!(self, null_mut(), GetMethodDeclaringClass, method).map(ClassRef)
    }
}
