//! Shapes of several profiles.

use std::sync::Arc;

use super::MethodShape;
use crate::model::places::place;
use crate::model::profile::{ClassProfile, Profile};

/// Gives each method of the merged classes the shape that the profiles know of it. Profiles of older versions know none;
/// if two differ (which equal code does not have), the smaller one stays, whatever the order of the profiles.
pub(super) fn merge(profiles: &[&Profile], classes: &mut [ClassProfile]) {
    let mut shapes: Vec<Vec<Option<&MethodShape>>> = classes
        .iter()
        .map(|class| vec![None; class.map.methods.len()])
        .collect();
    for profile in profiles {
        for (c, class) in profile.classes.iter().enumerate() {
            for (m, method) in class.map.methods.iter().enumerate() {
                let Some(own) = &method.shape else { continue };
                if let Some((class, method)) = place(profile, c, m, classes) {
                    let known = &mut shapes[class][method];
                    *known = Some(known.map_or(own, |known| known.min(own)));
                }
            }
        }
    }
    for (class, shapes) in classes.iter_mut().zip(shapes) {
        let differ =
            |(method, shape): (&crate::MethodMap, &Option<&MethodShape>)| method.shape.as_ref() != *shape;
        if !class.map.methods.iter().zip(&shapes).any(differ) {
            continue;
        }
        let map = Arc::make_mut(&mut class.map);
        for (method, shape) in map.methods.iter_mut().zip(shapes) {
            method.shape = shape.cloned();
        }
    }
}
