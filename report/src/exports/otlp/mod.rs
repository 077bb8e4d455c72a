//! OTLP: one message with all stacks, as OpenTelemetry's collectors take it (signal *profiles*, which is still in development).

mod messages;

use std::collections::HashMap;

use prost::Message;
use trodden_insight::view::View;

use super::origin::Origin;
use super::strings::Strings;
use super::{Export, FrameKind, Unit, whole};
use messages::{
    AnyValue, Function, InstrumentationScope, KeyValue, KeyValueAndUnit, Line, Location, Nothing, Profile,
    ProfilesData, ProfilesDictionary, Resource, ResourceProfiles, Sample, ScopeProfiles, Stack, ValueType,
};

/// A service that nobody has named, as OpenTelemetry's conventions call it.
const UNNAMED: &str = "unknown_service:java";

/// As a protocol buffer.
pub(crate) fn write(export: &Export, view: &View) -> Vec<u8> {
    message(export, view).encode_to_vec()
}

/// As JSON.
pub(crate) fn write_json(export: &Export, view: &View) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(&message(export, view))? + "\n")
}

fn message(export: &Export, view: &View) -> ProfilesData {
    let origin = Origin::of(view.run);
    let names: Vec<_> = (export.values.iter())
        .map(|value| (value.stored_name(), value.period()))
        .collect();
    let mut strings = Strings::with_empty();
    let mut attributes = vec![KeyValueAndUnit::default()];
    let mut attribute = |key_strindex, value| {
        attributes.push(KeyValueAndUnit {
            key_strindex,
            value: Some(value),
        });
        attributes.len() as i32 - 1
    };
    let comment = attribute(
        strings.number("pprof.profile.comment"),
        AnyValue::texts(&export.notes),
    );
    // What stands for several things is no frame of the JVM.
    let is_jvm = |kind| kind != FrameKind::Group;
    let jvm = (export.frames.iter().any(|frame| is_jvm(frame.kind)))
        .then(|| attribute(strings.number("profile.frame.type"), AnyValue::text("jvm")));
    let (mut functions, mut numbers) = (vec![Function::default()], HashMap::new());
    let mut locations = vec![Location::default()];
    for frame in &export.frames {
        let line = frame.line.unwrap_or(0).into();
        let function = Function {
            name_strindex: strings.number(&frame.name),
            filename_strindex: strings.number(frame.file.as_deref().unwrap_or("")),
            start_line: line,
        };
        // A class and what stands for it may have one name.
        let function_index = *numbers.entry(function).or_insert_with_key(|function| {
            functions.push(function.clone());
            functions.len() as i32 - 1
        });
        locations.push(Location {
            lines: vec![Line { function_index, line }],
            attribute_indices: jvm.filter(|_| is_jvm(frame.kind)).into_iter().collect(),
        });
    }
    let mut stacks = vec![Stack::default()];
    let values = export.values.iter().zip(&names);
    let mut profiles: Vec<Profile> = values
        .map(|(value, (name, (period, unit, every)))| {
            let mut kind = |name, unit: Unit| {
                Some(ValueType {
                    type_strindex: strings.number(name),
                    unit_strindex: strings.number(unit.name()),
                })
            };
            Profile {
                sample_type: kind(name, value.unit),
                samples: Vec::new(),
                time_unix_nano: origin.started_ns,
                duration_nano: origin.lasted_ns,
                period_type: kind(period, *unit),
                period: whole(*every),
                attribute_indices: vec![comment],
            }
        })
        .collect();
    for (at, node) in export.samples() {
        let stack_index = stacks.len() as i32;
        let leaf_first = export.stack(at).into_iter();
        stacks.push(Stack {
            location_indices: leaf_first.map(|frame| frame as i32 + 1).collect(),
        });
        for (profile, &number) in profiles.iter_mut().zip(&node.own) {
            if number > 0 {
                let values = vec![whole(number)];
                profile.samples.push(Sample { stack_index, values });
            }
        }
    }
    ProfilesData {
        resource_profiles: vec![ResourceProfiles {
            resource: Some(resource(&origin, view)),
            scope_profiles: vec![ScopeProfiles {
                scope: Some(InstrumentationScope {
                    name: "trodden".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                }),
                profiles,
            }],
        }],
        dictionary: Some(ProfilesDictionary {
            mapping_table: vec![Nothing {}],
            location_table: locations,
            function_table: functions,
            link_table: vec![Nothing {}],
            string_table: strings.into_table(),
            attribute_table: attributes,
            stack_table: stacks,
        }),
    }
}

/// The program, under the names of OpenTelemetry's conventions.
fn resource(origin: &Origin, view: &View) -> Resource {
    let jvm = (!view.run.jvm.is_empty()).then_some(view.run.jvm.as_str());
    let named = origin.named(&[
        ("service.name", Some(origin.service.as_deref().unwrap_or(UNNAMED))),
        ("service.version", origin.build.as_deref()),
        ("service.instance.id", origin.jvm_id.as_deref()),
        ("host.name", origin.host.as_deref()),
        ("process.runtime.description", jvm),
        ("trodden.fleet", origin.fleet.as_deref()),
    ]);
    let attributes = named.into_iter().map(|(key, value)| KeyValue {
        key,
        value: Some(AnyValue::text(value)),
    });
    Resource {
        attributes: attributes.collect(),
    }
}
