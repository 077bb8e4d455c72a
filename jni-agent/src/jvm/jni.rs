//! JNI, as much of it as the agent needs. Every call that can throw returns the exception as an error,
//! cleared.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

use jvmti_bindings::sys::jni::{
    JNIEnv, JNINativeMethod, jclass, jfieldID, jint, jlong, jmethodID, jobject, jvalue,
};

use super::error::JvmError;

/// The calling thread's JNI environment.
#[derive(Clone, Copy)]
pub struct Jni<'e> {
    env: NonNull<JNIEnv>,
    life: PhantomData<&'e JNIEnv>,
}

/// A local reference to a class; lives until the native method returns or its frame is popped.
#[derive(Clone, Copy)]
pub struct ClassRef(pub(super) jclass);

/// A global reference, valid in all threads.
#[derive(Clone, Copy)]
pub struct GlobalRef(jobject);

// SAFETY: JNI global references may be used from any thread.
unsafe impl Send for GlobalRef {}
// SAFETY: as above; the reference itself is never written to.
unsafe impl Sync for GlobalRef {}

/// A reference that does not keep its object alive, valid in all threads until it is deleted.
pub struct WeakRef(jobject);

// SAFETY: JNI weak global references may be used from any thread.
unsafe impl Send for WeakRef {}
// SAFETY: as above; the reference itself is never written to.
unsafe impl Sync for WeakRef {}

impl WeakRef {
    /// The raw reference, to be compared.
    pub fn raw(&self) -> jobject {
        self.0
    }
}

impl ClassRef {
    /// A reference that the JVM passed to an event's function, for the time of that call.
    pub fn of(class: jclass) -> Self {
        ClassRef(class)
    }

    /// The raw reference, to be compared.
    pub fn raw(self) -> jobject {
        self.0
    }
}

/// A static method of a class that is never unloaded.
#[derive(Clone, Copy)]
pub struct StaticMethod(jmethodID);

impl StaticMethod {
    /// Its `jmethodID`, to compare frames with.
    pub fn address(self) -> usize {
        self.0 as usize
    }
}

// SAFETY: method ids may be used from any thread while their class is loaded.
unsafe impl Send for StaticMethod {}
// SAFETY: as above.
unsafe impl Sync for StaticMethod {}

/// A field of a class that is never unloaded.
#[derive(Clone, Copy)]
pub struct FieldId(jfieldID);

// SAFETY: field ids may be used from any thread while their class is loaded.
unsafe impl Send for FieldId {}
// SAFETY: as above.
unsafe impl Sync for FieldId {}

/// Calls a function of the JNI table.
macro_rules! jni {
    ($jni:expr, $name:ident $(, $arg:expr)*) => {{
        let env = $jni.env.as_ptr();
        // SAFETY: `env` is the current thread's valid environment (see the module comment of `jvm`), so its
        // function table is there and complete; the arguments are references given out by this JVM or
        // pointers to live locals.
        unsafe { ((**env).$name)(env $(, $arg)*) }
    }};
}

impl GlobalRef {
    /// As a class, for calls.
    pub fn class(self) -> ClassRef {
        ClassRef(self.0)
    }

    /// The raw reference.
    pub fn raw(self) -> jobject {
        self.0
    }
}

impl<'e> Jni<'e> {
    /// Wraps an environment pointer.
    ///
    /// # Safety
    /// Null, or the current thread's environment, valid for `'e`.
    pub unsafe fn from_raw(env: *mut JNIEnv) -> Option<Self> {
        NonNull::new(env).map(|env| Jni {
            env,
            life: PhantomData,
        })
    }

    /// Where the environment is.
    pub(super) fn address(self) -> usize {
        self.env.addr().get()
    }

    /// True while an exception is pending that is not ours.
    pub fn exception_pending(self) -> bool {
        jni!(self, ExceptionCheck) != 0
    }

    /// The value, unless the call before threw.
    fn checked<T>(self, call: &'static str, value: T) -> Result<T, JvmError> {
        if self.exception_pending() {
            jni!(self, ExceptionClear);
            return Err(JvmError::Exception { call });
        }
        Ok(value)
    }

    /// Defines a class in the boot loader. The name must be the one in the bytes.
    pub fn define_boot_class(self, name: &CStr, bytes: &[u8]) -> Result<ClassRef, JvmError> {
        let class = jni!(
            self,
            DefineClass,
            name.as_ptr(),
            null_mut(),
            bytes.as_ptr().cast(),
            bytes.len() as jint
        );
        self.checked("DefineClass", ClassRef(class))
    }

    /// Finds a class as the calling Java code would.
    pub fn find_class(self, name: &CStr) -> Result<ClassRef, JvmError> {
        let class = jni!(self, FindClass, name.as_ptr());
        self.checked("FindClass", ClassRef(class))
    }

    /// Says where a class's native methods are: name, descriptor, address.
    ///
    /// # Safety
    /// Each address must be that of a function with the method's signature, as JNI has it.
    pub unsafe fn register_natives(
        self,
        class: ClassRef,
        methods: &[(&'static CStr, &'static CStr, *mut c_void)],
    ) -> Result<(), JvmError> {
        let methods: Vec<JNINativeMethod> = methods
            .iter()
            .map(|&(name, signature, function)| JNINativeMethod {
                name: name.as_ptr(),
                signature: signature.as_ptr(),
                fnPtr: function,
            })
            .collect();
        let code = jni!(
            self,
            RegisterNatives,
            class.0,
            methods.as_ptr(),
            methods.len() as jint
        );
        self.checked("RegisterNatives", ())?;
        JvmError::check("RegisterNatives", code)
    }

    /// The bytes of a `byte[]`; nothing for null.
    pub fn bytes(self, array: jobject) -> Result<Option<Vec<u8>>, JvmError> {
        if array.is_null() {
            return Ok(None);
        }
        let mut bytes = vec![0u8; self.array_length(array)];
        jni!(
            self,
            GetByteArrayRegion,
            array,
            0,
            bytes.len() as jint,
            bytes.as_mut_ptr().cast()
        );
        self.checked("GetByteArrayRegion", Some(bytes))
    }

    /// A `long` field of an object's class.
    pub fn long_field_id(self, object: jobject, name: &CStr) -> Result<FieldId, JvmError> {
        let class = jni!(self, GetObjectClass, object);
        let field = jni!(self, GetFieldID, class, name.as_ptr(), c"J".as_ptr());
        jni!(self, DeleteLocalRef, class);
        Ok(FieldId(self.checked("GetFieldID", field)?))
    }

    /// The value of a `long` field.
    pub fn long_field(self, object: jobject, field: FieldId) -> jlong {
        jni!(self, GetLongField, object, field.0)
    }

    /// A string's characters; empty for null.
    pub fn string(self, text: jobject) -> String {
        if text.is_null() {
            return String::new();
        }
        let characters = jni!(self, GetStringUTFChars, text, null_mut());
        if characters.is_null() {
            let _ = self.checked("GetStringUTFChars", ());
            return String::new();
        }
        // SAFETY: JNI returned a NUL-terminated string, ours until released.
        let owned = unsafe { CStr::from_ptr(characters) }
            .to_string_lossy()
            .into_owned();
        jni!(self, ReleaseStringUTFChars, text, characters);
        owned
    }

    /// A global reference to an object.
    pub fn global(self, object: jobject) -> GlobalRef {
        GlobalRef(jni!(self, NewGlobalRef, object))
    }

    /// Deletes a global reference; no copy of it may be used again.
    pub fn delete_global(self, reference: GlobalRef) {
        jni!(self, DeleteGlobalRef, reference.0);
    }

    /// A weak reference to a class; `None` if the JVM has no room for one.
    pub fn weak_class(self, class: ClassRef) -> Option<WeakRef> {
        let weak = jni!(self, NewWeakGlobalRef, class.0);
        // What there is instead of a reference is the end of memory.
        if weak.is_null() {
            let _ = self.checked("NewWeakGlobalRef", ());
            return None;
        }
        Some(WeakRef(weak))
    }

    /// The class of a weak reference, which stays as long as this reference; `None` if it has gone.
    pub fn strong_class(self, weak: &WeakRef) -> Option<ClassRef> {
        let class = jni!(self, NewLocalRef, weak.0);
        (!class.is_null()).then_some(ClassRef(class))
    }

    /// Deletes a weak reference.
    pub fn delete_weak(self, weak: WeakRef) {
        jni!(self, DeleteWeakGlobalRef, weak.0);
    }

    /// Deletes a local reference early; no copy of it may be used again.
    pub fn delete_local(self, object: jobject) {
        jni!(self, DeleteLocalRef, object);
    }

    /// True if an object is an instance of a class.
    pub fn is_instance(self, object: jobject, class: GlobalRef) -> bool {
        jni!(self, IsInstanceOf, object, class.0) != 0
    }

    /// True if two references name the same object.
    pub fn same(self, one: jobject, other: jobject) -> bool {
        jni!(self, IsSameObject, one, other) != 0
    }

    /// Opens room for local references, which are freed when the frame is dropped.
    pub fn frame(self, capacity: jint) -> Result<LocalFrame<'e>, JvmError> {
        let code = jni!(self, PushLocalFrame, capacity);
        self.checked("PushLocalFrame", ())?;
        JvmError::check("PushLocalFrame", code)?;
        Ok(LocalFrame(self))
    }

    /// Sets a static `int` field.
    pub fn set_static_int(self, class: ClassRef, name: &CStr, value: jint) -> Result<(), JvmError> {
        let field = jni!(self, GetStaticFieldID, class.0, name.as_ptr(), c"I".as_ptr());
        let field = self.checked("GetStaticFieldID", field)?;
        jni!(self, SetStaticIntField, class.0, field, value);
        Ok(())
    }

    /// Sets a static `long` field.
    pub fn set_static_long(self, class: ClassRef, name: &CStr, value: jlong) -> Result<(), JvmError> {
        let field = jni!(self, GetStaticFieldID, class.0, name.as_ptr(), c"J".as_ptr());
        let field = self.checked("GetStaticFieldID", field)?;
        jni!(self, SetStaticLongField, class.0, field, value);
        Ok(())
    }

    /// Finds a static method; initialises its class.
    pub fn static_method(
        self,
        class: ClassRef,
        name: &CStr,
        descriptor: &CStr,
    ) -> Result<StaticMethod, JvmError> {
        let method = jni!(
            self,
            GetStaticMethodID,
            class.0,
            name.as_ptr(),
            descriptor.as_ptr()
        );
        Ok(StaticMethod(self.checked("GetStaticMethodID", method)?))
    }

    /// Calls a static method `(I)V`.
    pub fn call_void_int(self, class: ClassRef, method: StaticMethod, value: jint) -> Result<(), JvmError> {
        let args = [jvalue { i: value }];
        jni!(self, CallStaticVoidMethodA, class.0, method.0, args.as_ptr());
        self.checked("CallStaticVoidMethod", ())
    }

    /// Calls a static method `(I)I`.
    pub fn call_int_int(self, class: ClassRef, method: StaticMethod, value: jint) -> Result<jint, JvmError> {
        let args = [jvalue { i: value }];
        let value = jni!(self, CallStaticIntMethodA, class.0, method.0, args.as_ptr());
        self.checked("CallStaticIntMethod", value)
    }

    /// The bytes that a static method `(I)[B` returns; nothing for null.
    pub fn call_bytes_int(
        self,
        class: ClassRef,
        method: StaticMethod,
        value: jint,
    ) -> Result<Option<Vec<u8>>, JvmError> {
        let args = [jvalue { i: value }];
        let array = jni!(self, CallStaticObjectMethodA, class.0, method.0, args.as_ptr());
        let array = self.checked("CallStaticObjectMethod", array)?;
        let bytes = self.bytes(array);
        self.delete_local(array);
        bytes
    }

    /// Calls a static method `()I`.
    pub fn call_int(self, class: ClassRef, method: StaticMethod) -> Result<jint, JvmError> {
        let value = jni!(self, CallStaticIntMethodA, class.0, method.0, std::ptr::null());
        self.checked("CallStaticIntMethod", value)
    }

    /// Calls a static method `()J`.
    pub fn call_long(self, class: ClassRef, method: StaticMethod) -> Result<jlong, JvmError> {
        let value = jni!(self, CallStaticLongMethodA, class.0, method.0, std::ptr::null());
        self.checked("CallStaticLongMethod", value)
    }

    /// Calls a static method that takes nothing and returns an object.
    pub fn call_object(self, class: ClassRef, method: StaticMethod) -> Result<jobject, JvmError> {
        let value = jni!(self, CallStaticObjectMethodA, class.0, method.0, std::ptr::null());
        self.checked("CallStaticObjectMethod", value)
    }

    /// Length of any array.
    pub fn array_length(self, array: jobject) -> usize {
        jni!(self, GetArrayLength, array).max(0) as usize
    }

    /// Overwrites the first elements of a `long[]`.
    pub fn set_longs(self, array: GlobalRef, values: &[jlong]) -> Result<(), JvmError> {
        jni!(
            self,
            SetLongArrayRegion,
            array.0,
            0,
            values.len() as jint,
            values.as_ptr()
        );
        self.checked("SetLongArrayRegion", ())
    }

    /// The first `length` elements of a `long[]`.
    pub fn longs(self, array: jobject, length: usize) -> Result<Vec<jlong>, JvmError> {
        let mut values = vec![0; length];
        jni!(
            self,
            GetLongArrayRegion,
            array,
            0,
            length as jint,
            values.as_mut_ptr()
        );
        self.checked("GetLongArrayRegion", values)
    }
}

/// Room for local references.
#[must_use]
pub struct LocalFrame<'e>(Jni<'e>);

impl Drop for LocalFrame<'_> {
    fn drop(&mut self) {
        jni!(self.0, PopLocalFrame, null_mut());
    }
}
