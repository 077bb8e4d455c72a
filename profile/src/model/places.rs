//! Methods of one profile in another: where they are, and their counts under the other's numbers.

use trodden_numbering::RegenerateError;

use crate::model::counts::MethodCounts;
use crate::model::errors::{MergeError, SubtractError};
use crate::model::fault::Fault;
use crate::model::map::MethodMap;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::translate::Renumbering;

/// A method of a profile, by class and method; `what` speaks of it.
pub(crate) fn method<'p>(
    profile: &'p Profile,
    (class, method): (usize, usize),
    what: &'static str,
) -> Result<&'p MethodMap, Fault> {
    let found = profile.classes.get(class);
    let found = found.and_then(|class| class.map.methods.get(method));
    found.ok_or(Fault::NoMethod(what, class, method))
}

/// Where a method of one of the profiles is among the merged classes, which are sorted by name and hash:
/// index of the class and of the method. `None` if the profile has no such method.
pub(crate) fn place(
    from: &Profile,
    class: usize,
    method: usize,
    classes: &[ClassProfile],
) -> Option<(usize, usize)> {
    let own = &from.classes.get(class)?.map;
    let wanted = own.methods.get(method)?;
    let class = classes.binary_search_by(|c| (&c.map.name, c.map.sha256).cmp(&(&own.name, own.sha256)));
    let class = class.ok()?;
    let same = |m: &MethodMap| (&m.name, &m.descriptor) == (&wanted.name, &wanted.descriptor);
    let methods = &classes[class].map.methods;
    // Mostly they are where they were.
    let method = if methods.get(method).is_some_and(same) {
        method
    } else {
        methods.iter().position(same)?
    };
    Some((class, method))
}

pub(crate) fn fell(class: &str, method: &MethodMap) -> SubtractError {
    SubtractError::Fell {
        what: format!("class {class}, method {}", method.title()),
    }
}

/// The paths of a method's map under the numbers of another.
pub(crate) fn renumbering<'m>(
    class: &str,
    from: &'m MethodMap,
    to: &'m MethodMap,
) -> Result<Renumbering<'m>, MergeError> {
    let numbers = Renumbering::new(from, to);
    if numbers.is_possible() {
        return Ok(numbers);
    }
    Err(MergeError::DifferentPaths {
        class: class.to_owned(),
        method: from.title(),
    })
}

/// The error for a number that names no path of a map.
pub(crate) fn no_such_path(class: &str, method: &MethodMap) -> impl Fn(RegenerateError) -> MergeError {
    move |source| MergeError::NoSuchPath {
        class: class.to_owned(),
        method: method.title(),
        source,
    }
}

/// Takes counts under the numbers of one map off those under another's.
pub(crate) fn take_off(
    counts: &mut MethodCounts,
    class: &str,
    map: &MethodMap,
    before: &MethodMap,
    then: &MethodCounts,
) -> Result<(), SubtractError> {
    let numbers = renumbering(class, before, map)?;
    let then = numbers.counts(then).map_err(no_such_path(class, before))?;
    if counts.take_off(&then) {
        Ok(())
    } else {
        Err(fell(class, map))
    }
}
