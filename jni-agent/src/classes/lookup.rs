//! From a method of the JVM to the class and the method of ours.

use std::sync::Arc;

use jvmti_bindings::sys::jni::jmethodID;
use trodden_instrumenter::{Filter, MethodCode, MethodId};
use trodden_profile::ClassMap;

use crate::classes::registry::Registry;
use crate::jvm::{Jni, Jvmti};

/// An instrumented method.
#[derive(Clone)]
pub struct Method {
    /// Its id.
    pub id: MethodId,
    /// Its place in its class's map.
    pub position: usize,
    /// That map.
    pub map: Arc<ClassMap>,
    /// Where its instructions went.
    pub code: Arc<Vec<MethodCode>>,
}

impl Method {
    /// True for class initialisers.
    pub fn initialises(&self) -> bool {
        self.map.methods[self.position].name == "<clinit>"
    }
}

/// The result of a look at a frame's method.
pub enum Lookup {
    /// A method with probes.
    Found(Method),
    /// Its class is not for profiling.
    Never,
    /// It has no probes, or its name does not say which of several it is.
    NotYet,
}

/// Which method a frame runs, and where its instructions went.
pub fn resolve(
    jvmti: Jvmti,
    registry: &Registry,
    filter: &Filter,
    jni: Jni<'_>,
    method: jmethodID,
) -> Lookup {
    match resolve_name(jvmti, registry, filter, jni, method) {
        Lookup::Found(method) if method.code.is_empty() => Lookup::NotYet,
        lookup => lookup,
    }
}

/// Which method a frame runs. Where its instructions went may not be known: then there is no code.
pub fn resolve_name(
    jvmti: Jvmti,
    registry: &Registry,
    filter: &Filter,
    jni: Jni<'_>,
    method: jmethodID,
) -> Lookup {
    let Ok(class) = jvmti.declaring_class(method) else {
        return Lookup::NotYet;
    };
    let class_name = jvmti.class_name(class).ok().flatten();
    jni.delete_local(class.raw());
    let Some(class_name) = class_name else {
        return Lookup::NotYet;
    };
    // Hidden classes, which have a dot in their names, never come through the hook.
    if class_name.contains('.') || !filter.class(&class_name) {
        return Lookup::Never;
    }
    let Ok((name, descriptor)) = jvmti.method_name(method) else {
        return Lookup::NotYet;
    };
    find(registry, &class_name, &name, &descriptor).map_or(Lookup::NotYet, Lookup::Found)
}

/// The method, if its class's name is enough to find it: not if different bytes were loaded under one name.
fn find(registry: &Registry, class: &str, name: &str, descriptor: &str) -> Option<Method> {
    let entry = registry.only_class_named(class)?;
    let position = entry.position(name, descriptor)?;
    Some(Method {
        id: entry.ids.first_method.at(position),
        position,
        code: entry.code.unwrap_or_default(),
        map: entry.map,
    })
}
