//! Methods of one profile in another: where they are, and their counts under the other's numbers.

use crate::model::counts::MethodCounts;
use crate::model::errors::SubtractError;
use crate::model::map::MethodMap;
use crate::model::profile::{ClassProfile, Profile};
use crate::model::translate::{same_paths, translate, translate_partial};

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
        what: format!("class {class}, method {}{}", method.name, method.descriptor),
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
    let same = map.dag == before.dag && map.graph == before.graph && map.blocks == before.blocks;
    let method = || format!("{}{}", map.name, map.descriptor);
    if !same && !same_paths(before, map) {
        return Err(SubtractError::DifferentPaths {
            class: class.to_owned(),
            method: method(),
        });
    }
    let failed = |source| SubtractError::NoSuchPath {
        class: class.to_owned(),
        method: method(),
        source,
    };
    for (&number, &times) in &then.paths {
        let number = if same {
            number
        } else {
            translate(before, map, number).map_err(failed)?
        };
        let left = counts.paths.get_mut(&number);
        less(left, times).ok_or_else(|| fell(class, map))?;
    }
    for (&(block, number), &times) in &then.partial {
        let number = if same {
            number
        } else {
            translate_partial(before, map, block, number).map_err(failed)?
        };
        let left = counts.partial.get_mut(&(block, number));
        less(left, times).ok_or_else(|| fell(class, map))?;
    }
    // A count of 0 that only the later profile has stays: it has one that was read.
    counts.paths.retain(|_, times| *times > 0);
    counts.partial.retain(|_, times| *times > 0);
    Ok(())
}

/// `None` if there is not so much.
fn less(count: Option<&mut u64>, times: u64) -> Option<()> {
    match count {
        Some(count) => *count = count.checked_sub(times)?,
        None if times == 0 => {}
        None => return None,
    }
    Some(())
}
