//! Methods that take time, though none of their paths came to an end: a `main` that loops for ever, which was entered
//! before its probes came.

use trodden_insight::findings::ratio;
use trodden_insight::names;
use trodden_insight::source::below;
use trodden_insight::view::View;

use super::{Finding, FindingKind, MOST_OF_A_KIND, WORTH};
use crate::words::percent;

/// Those with most time. Where paths are sampled, or a method was left alone on purpose, there is nothing to tell.
pub(super) fn under_way(view: &View) -> Vec<Finding> {
    let Some(times) = view.times().filter(|_| view.run.exact) else {
        return Vec::new();
    };
    let profile = view.profile;
    let mut found = Vec::new();
    for (position, class) in profile.classes.iter().enumerate() {
        for (index, map) in class.map.methods.iter().enumerate() {
            let name = &class.map.name;
            let Some(frame) = times.frame((name, &map.name, &map.descriptor)) else {
                continue;
            };
            let share = ratio(times.near[frame].ns, times.total.ns);
            let counted = class.counts.get(index);
            let counted = counted.is_some_and(|c| c.paths.values().chain(c.partial.values()).any(|&n| n > 0));
            if share < WORTH || counted {
                continue;
            }
            let place = (position as u32, index as u32);
            let known = profile.observations.iter().any(|o| (o.class, o.method) == place);
            let method = format!("{}{}", map.name, map.descriptor);
            let left = |s: &trodden_profile::Skipped| {
                s.class == *name && s.method.as_deref().is_none_or(|of| of == method)
            };
            if known || profile.skipped.iter().any(left) {
                continue;
            }
            let class_name = names::dotted(name);
            let file = class.map.source_file.as_deref();
            let file = names::in_file(file.filter(|file| below(name, file).is_some()), map.place(0));
            let simple = class_name.rsplit('.').next().unwrap_or_default();
            found.push(Finding {
                not_measured: Some((name.clone(), method)),
                line: map.lines.first().map(|line| line.line),
                ..Finding::new(
                    FindingKind::UnderWay,
                    format!(
                        "{simple}.{}{} takes {} of the whole time, and none of its paths came to an end",
                        map.name,
                        file.map_or_else(String::new, |file| format!(" ({file})")),
                        percent(share)
                    ),
                    "it was entered before its probes came, or is in one call to the end; what it calls is counted"
                        .to_owned(),
                    Some(share),
                )
            });
        }
    }
    found.sort_by(|a, b| {
        b.share
            .unwrap_or(0.0)
            .total_cmp(&a.share.unwrap_or(0.0))
            .then_with(|| a.not_measured.cmp(&b.not_measured))
    });
    found.truncate(MOST_OF_A_KIND);
    found
}
