//! The extension for Visual Studio Code, packed twice.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use trodden_tests::{Result, process};
use zip::ZipArchive;

use super::{LIMIT, OWNER, have, named};

#[test]
#[cfg_attr(feature = "change", ignore = "all: packages from npm")]
fn the_extension_is_packed_with_its_client() -> Result<()> {
    if !have("npm") {
        println!("skipped: no npm");
        return Ok(());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let temporary = tempfile::tempdir()?;
    let owner = temporary.path().join("owner");
    fs::write(&owner, format!("{OWNER}vscode_publisher=\"jo\"\n"))?;
    let mut made = Vec::new();
    for name in ["one", "other"] {
        let out = temporary.path().join(name);
        fs::create_dir(&out)?;
        let mut pack = Command::new("bash");
        pack.arg(root.join("packaging/vscode"))
            .arg("--project")
            .arg(&owner);
        if let Err(why) = process::run(pack.arg(&out), LIMIT)?.success() {
            println!("skipped: the packer cannot be had from npm: {why}");
            return Ok(());
        }
        made.push(named(&out, ".vsix")?);
    }
    assert!(fs::read(&made[0])? == fs::read(&made[1])?, "not the same twice");
    let mut archive = ZipArchive::new(File::open(&made[0])?)?;
    let mut text = |name: &str| -> Result<String> {
        let mut text = String::new();
        archive.by_name(name)?.read_to_string(&mut text)?;
        Ok(text)
    };
    let about: Value = serde_json::from_str(&text("extension/package.json")?)?;
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(about["publisher"], "jo");
    assert_eq!(about["repository"]["url"], "https://example.org/trodden.git");
    assert!(text("extension/extension.js")?.contains("vscode-languageclient/node"));
    text("extension/node_modules/vscode-languageclient/lib/node/main.js")?;
    text("extension/LICENSE.txt")?;
    Ok(())
}
