//! Where the classes come from.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use zip::ZipArchive;

use super::Options;
use crate::jdk::Jdk;
use crate::{Result, build, process};

/// A sample of one class in `every`, chosen by `seed`.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// One in this many; 1 takes all.
    pub every: u64,
    /// Which ones.
    pub seed: u64,
}

impl Sample {
    fn takes(&self, number: u64) -> bool {
        // SplitMix64: one step gives a well-mixed number.
        let mut z = (self.seed ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).is_multiple_of(self.every)
    }
}

/// A class file of a container.
#[derive(Clone, Debug)]
pub struct ClassEntry {
    /// Name of the zip entry.
    pub entry: String,
    /// Position in the container.
    pub number: u32,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// A zip of classes.
#[derive(Clone, Debug)]
pub enum Container {
    /// A JDK's image, copied into a zip: (name, zip).
    Image(String, PathBuf),
    /// A jar.
    Jar(PathBuf),
}

impl Container {
    /// Name for people.
    pub fn name(&self) -> String {
        match self {
            Container::Image(name, _) => name.clone(),
            Container::Jar(path) => path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// The judge's name for it.
    pub fn key(&self) -> String {
        match self {
            Container::Image(..) => "jdk".to_owned(),
            Container::Jar(path) => path.display().to_string(),
        }
    }

    /// Its classes, or a sample of them.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn classes(&self, sample: Option<&Sample>) -> Result<Vec<ClassEntry>> {
        let (Container::Image(_, path) | Container::Jar(path)) = self;
        let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut zip = ZipArchive::new(BufReader::new(file))?;
        let mut classes = Vec::new();
        for number in 0..zip.len() {
            let wanted = sample.is_none_or(|s| s.takes(number as u64));
            let named = zip
                .name_for_index(number)
                .is_some_and(|name| name.is_ok_and(|n| n.ends_with(".class")));
            if !wanted || !named {
                continue;
            }
            let mut entry = zip.by_index(number)?;
            let mut bytes = Vec::with_capacity(entry.size() as usize);
            entry.read_to_end(&mut bytes)?;
            // Some tools keep things in jars that are only called classes.
            if bytes.starts_with(&[0xca, 0xfe, 0xba, 0xbe]) {
                classes.push(ClassEntry {
                    entry: entry.name()?.into_owned(),
                    number: number as u32,
                    bytes,
                });
            }
        }
        Ok(classes)
    }
}

/// The containers to sweep on one JDK.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The image, then the jars.
    pub containers: Vec<Container>,
}

impl Corpus {
    /// The corpus of a JDK; its image is copied to `work`.
    ///
    /// # Errors
    /// If the image cannot be read.
    pub fn new(jdk: &Jdk, options: &Options, work: &Path) -> Result<Corpus> {
        let mut containers = Vec::new();
        if options.images {
            let zip = work.join(format!("jdk{}.zip", jdk.feature));
            let mut dump = jdk.command("java");
            dump.arg("-cp")
                .arg(build::verifier_jar()?)
                .arg("DumpJdk")
                .arg(&zip);
            process::run(&mut dump, Duration::from_secs(300))?.success()?;
            containers.push(Container::Image(format!("jdk{} image", jdk.feature), zip));
        }
        containers.extend(options.jars.iter().cloned().map(Container::Jar));
        Ok(Corpus { containers })
    }
}

/// All jars below a folder, sorted.
///
/// # Errors
/// If it cannot be read.
pub fn jars_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut jars = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jar") {
                jars.push(path.canonicalize()?);
            }
        }
    }
    jars.sort();
    Ok(jars)
}
