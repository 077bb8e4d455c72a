//! Views that questions share. Each may use those before it, and the columns of `params` of the questions that
//! name it.

/// A view.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    /// Its name in SQL.
    pub name: &'static str,
    /// One SELECT.
    pub sql: &'static str,
}

static VIEWS: [View; 5] = [
    View {
        name: "builds",
        sql: include_str!("../../../docs/fleet/queries/views/builds.sql"),
    },
    View {
        name: "build_ages",
        sql: include_str!("../../../docs/fleet/queries/views/build_ages.sql"),
    },
    View {
        name: "chosen",
        sql: include_str!("../../../docs/fleet/queries/views/chosen.sql"),
    },
    View {
        name: "seen",
        sql: include_str!("../../../docs/fleet/queries/views/seen.sql"),
    },
    View {
        name: "ran_methods",
        sql: include_str!("../../../docs/fleet/queries/views/ran_methods.sql"),
    },
];

/// No view has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no view '{0}'; there are {names}", names = VIEWS.each_ref().map(|view| view.name).join(", "))]
pub struct NoView(String);

/// The view of this name.
pub(super) fn view(name: &str) -> Result<&'static View, NoView> {
    VIEWS
        .iter()
        .find(|view| view.name == name)
        .ok_or_else(|| NoView(name.to_owned()))
}
