//! The reviewed lists of what crates offer each other: `public.txt` of each library has its public items, so
//! that a change of them is seen in a review. `TRODDEN_UPDATE_PUBLIC=1 ./run-tests --test project public`
//! writes them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Item, UseTree, Visibility};

use trodden_tests::Result;

const CRATES: [&str; 8] = [
    "analyses",
    "classfile",
    "insight",
    "instrumenter",
    "path-numbering",
    "profile",
    "report",
    "source",
];

/// A module whose items are to be listed.
struct Module {
    /// Its name with those above it, each with `::` behind it.
    path: String,
    /// The folder with the files of the modules in it.
    folder: PathBuf,
    items: Vec<Item>,
}

impl Module {
    fn read(path: String, file: &Path, folder: PathBuf) -> Result<Module> {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let items = syn::parse_file(&text)
            .map_err(|e| format!("{}: {e}", file.display()))?
            .items;
        Ok(Module { path, folder, items })
    }

    /// Adds its public items, and those of the public modules in it.
    fn list(self, found: &mut BTreeSet<String>) -> Result<()> {
        for item in self.items {
            let (kind, name) = match &item {
                Item::Use(i) if is_public(&i.vis) => {
                    let mut names = Vec::new();
                    leaves(&i.tree, &mut names);
                    found.extend(names.iter().map(|name| format!("{}{name}", self.path)));
                    continue;
                }
                Item::Mod(i) if is_public(&i.vis) => {
                    let path = format!("{}{}::", self.path, i.ident);
                    let folder = self.folder.join(i.ident.to_string());
                    let inner = match &i.content {
                        Some((_, items)) => Module {
                            path,
                            folder,
                            items: items.clone(),
                        },
                        None => {
                            let beside = folder.with_extension("rs");
                            let file = if beside.is_file() {
                                beside
                            } else {
                                folder.join("mod.rs")
                            };
                            Module::read(path, &file, folder)?
                        }
                    };
                    inner.list(found)?;
                    ("mod", i.ident.to_string())
                }
                Item::Const(i) if is_public(&i.vis) => ("const", i.ident.to_string()),
                Item::Enum(i) if is_public(&i.vis) => ("enum", i.ident.to_string()),
                Item::Fn(i) if is_public(&i.vis) => ("fn", i.sig.ident.to_string()),
                Item::Static(i) if is_public(&i.vis) => ("static", i.ident.to_string()),
                Item::Struct(i) if is_public(&i.vis) => ("struct", i.ident.to_string()),
                Item::Trait(i) if is_public(&i.vis) => ("trait", i.ident.to_string()),
                Item::Type(i) if is_public(&i.vis) => ("type", i.ident.to_string()),
                _ => continue,
            };
            found.insert(format!("{}{name} ({kind})", self.path));
        }
        Ok(())
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The names that a `use` gives.
fn leaves(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, names),
        UseTree::Name(name) => names.push(name.ident.to_string()),
        UseTree::Rename(rename) => names.push(rename.rename.to_string()),
        UseTree::Glob(_) => names.push("*".to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
    }
}

fn list(root: &Path) -> Result<String> {
    let source = root.join("src");
    let mut found = BTreeSet::new();
    Module::read(String::new(), &source.join("lib.rs"), source.clone())?.list(&mut found)?;
    let lines: Vec<String> = found.into_iter().collect();
    Ok(format!(
        "# Public items, and names that come from elsewhere. Written by tests/tests/project/public.rs.\n{}\n",
        lines.join("\n")
    ))
}

#[test]
fn what_crates_offer_was_reviewed() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut changed = Vec::new();
    for name in CRATES {
        let folder = root.join(name);
        let list = list(&folder)?;
        assert!(list.lines().count() > 10, "{list}");
        let file = folder.join("public.txt");
        if std::env::var_os("TRODDEN_UPDATE_PUBLIC").is_some() {
            fs::write(&file, &list)?;
        }
        let reviewed = fs::read_to_string(&file)?;
        let (now, before): (BTreeSet<_>, BTreeSet<_>) = (list.lines().collect(), reviewed.lines().collect());
        changed.extend(now.difference(&before).map(|line| format!("{name}: + {line}")));
        changed.extend(before.difference(&now).map(|line| format!("{name}: - {line}")));
    }
    assert!(
        changed.is_empty(),
        "what crates offer has changed: review it, and write public.txt\n{}",
        changed.join("\n")
    );
    Ok(())
}

#[test]
fn public_items_are_found_where_they_are() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::create_dir_all(folder.path().join("src/deep"))?;
    for (file, text) in [
        (
            "lib.rs",
            "mod hidden; pub mod deep; pub use hidden::{One, two as three}; pub(crate) fn no() {} pub fn yes() {}",
        ),
        ("deep/mod.rs", "pub mod er; pub struct S; struct T;"),
        (
            "deep/er.rs",
            "pub enum E { A } pub mod inline { pub const C: u8 = 1; }",
        ),
    ] {
        fs::write(folder.path().join("src").join(file), text)?;
    }
    let expected = [
        "One",
        "deep (mod)",
        "deep::S (struct)",
        "deep::er (mod)",
        "deep::er::E (enum)",
        "deep::er::inline (mod)",
        "deep::er::inline::C (const)",
        "three",
        "yes (fn)",
    ];
    assert_eq!(list(folder.path())?.lines().skip(1).collect::<Vec<_>>(), expected);
    Ok(())
}
