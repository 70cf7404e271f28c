//! A disk whose power is cut: what a process had not synced may be there, or not, in pieces.
//!
//! `disk.c` writes down what the process does to the files of a folder. Here this is played again up to
//! the cut, and the folder gets one of the contents that a disk may have then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a disk writes as a whole.
const SECTOR: u64 = 512;

/// A folder on the disk.
#[derive(Debug)]
pub(crate) struct Disk {
    library: PathBuf,
    folder: PathBuf,
    log: PathBuf,
}

/// The files of a folder.
#[derive(Debug, Default)]
struct Files {
    /// By name: the files as processes see them.
    now: BTreeMap<String, usize>,
    /// By name: the files as the folder was synced.
    synced: BTreeMap<String, usize>,
    contents: Vec<Content>,
}

/// The content of a file.
#[derive(Clone, Debug, Default)]
struct Content {
    synced: Vec<u8>,
    /// What has happened since, in order.
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Cut(u64),
}

/// What a disk keeps of the changes that were not synced.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Nothing,
    All,
    /// Each sector of each write, or not.
    Some,
}

impl Disk {
    /// The folder whose changes are in `log`.
    pub(crate) fn at(folder: &Path, log: &Path) -> Self {
        Self {
            library: PathBuf::new(),
            folder: folder.to_owned(),
            log: log.to_owned(),
        }
    }

    /// The folder, if `run.sh` has built the library.
    pub(crate) fn new(folder: &Path) -> Option<Self> {
        let files = folder.join("files");
        std::fs::create_dir(&files).expect("there is room for a folder");
        Some(Self {
            library: std::env::var_os("ATTACK_DISK_LIBRARY")?.into(),
            folder: files.canonicalize().expect("it is there"),
            log: folder.join("log"),
        })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Lets a process use the disk, and kills it after so many records; 0 for never.
    pub(crate) fn under(&self, process: &mut Command, records: u32) {
        process
            .env("ATTACK_DISK_CUT", records.to_string())
            .env("LD_PRELOAD", &self.library)
            .env("ATTACK_DISK_FOLDER", &self.folder)
            .env("ATTACK_DISK_LOG", &self.log);
    }

    /// Cuts the power, after the process has been killed. Returns the number of changes that were not
    /// synced; then all is as in the folder.
    ///
    /// # Errors
    ///
    /// If the process has changed a file in a way that was not written down.
    pub(crate) fn cut(
        &self,
        before: &BTreeMap<String, Vec<u8>>,
        random: &mut fastrand::Rng,
    ) -> Result<usize, String> {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let _ = std::fs::remove_file(&self.log);
        let mut files = Files::of(before);
        let mut rest = &log[..];
        let mut last = None;
        let mut without_last = files.now();
        while let Some(record) = Record::take(&mut rest) {
            if rest.is_empty() {
                without_last = files.now();
            }
            files.play(&record);
            last = Some(record);
        }
        // The last change was written down; it may not have happened, or in part.
        let beside_last = |mut files: BTreeMap<String, Vec<u8>>| {
            if let Some(Record {
                kind: 2,
                name,
                at,
                data,
            }) = &last
                && let Some(content) = files.get_mut(name)
            {
                let length = content.len();
                let [from, to] = [*at as usize, *at as usize + data.len()];
                content.drain(from.min(length)..to.min(length));
            }
            files
        };
        let seen = self.all();
        if files.now() != seen
            && without_last != seen
            && beside_last(files.now()) != beside_last(seen.clone())
        {
            return Err("the disk has missed a change".to_owned());
        }
        let (left, unsynced) = files.cut(random);
        for name in seen.keys() {
            std::fs::remove_file(self.file(name)).expect("it can be removed");
        }
        for (name, content) in left {
            std::fs::write(self.file(&name), content).expect("there is room");
        }
        // The index of the log was never synced: it may hold anything.
        for name in names(&self.folder) {
            if name.ends_with("-shm") {
                let path = self.file(&name);
                let length = std::fs::metadata(&path).map_or(0, |file| file.len());
                let garbage: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
                std::fs::write(path, garbage).expect("there is room");
            }
        }
        Ok(unsynced)
    }

    /// Returns the files and their contents.
    pub(crate) fn all(&self) -> BTreeMap<String, Vec<u8>> {
        files_of(&self.folder)
    }
}

/// Returns the files of a folder and their contents, but for indexes of write-ahead logs.
pub(crate) fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = names(folder).into_iter();
    let read = names.filter(|name| !name.ends_with("-shm")).map(|name| {
        let content = std::fs::read(folder.join(&name)).expect("it can be read");
        (name, content)
    });
    read.collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// A record of `disk.c`.
#[derive(Debug)]
struct Record<'a> {
    kind: u64,
    name: String,
    at: u64,
    data: &'a [u8],
}

impl<'a> Record<'a> {
    /// Takes the next record; none at the end, where the kill may have left a part of one.
    fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = rest.get(at * 8..at * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let (kind, name, at, data) = (number(0)?, number(1)?, number(2)?, number(3)?);
        let (head, name, data) = (32, name as usize, data as usize);
        let text = rest.get(head..head + name)?;
        let bytes = rest.get(head + name..head + name + data)?;
        *rest = &rest[head + name + data..];
        Some(Self {
            kind,
            name: String::from_utf8_lossy(text).into_owned(),
            at,
            data: bytes,
        })
    }
}

impl Files {
    fn of(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut all = Self::default();
        for (name, content) in files {
            all.now.insert(name.clone(), all.contents.len());
            all.contents.push(Content {
                synced: content.clone(),
                changes: Vec::new(),
            });
        }
        all.synced = all.now.clone();
        all
    }

    fn play(&mut self, record: &Record<'_>) {
        match record.kind {
            1 => {
                self.now.insert(record.name.clone(), self.contents.len());
                self.contents.push(Content::default());
            }
            2 => self.change(&record.name, Change::Write(record.at, record.data.to_vec())),
            3 => self.change(&record.name, Change::Cut(record.at)),
            4 => {
                if let Some(content) = self.content(&record.name) {
                    content.sync();
                }
            }
            5 => {
                self.now.remove(&record.name);
            }
            6 => self.synced = self.now.clone(),
            kind => panic!("no record is of kind {kind}"),
        }
    }

    /// Returns the files as processes see them.
    fn now(&self) -> BTreeMap<String, Vec<u8>> {
        let files = self.now.iter().map(|(name, index)| {
            let mut content = self.contents[*index].clone();
            content.sync();
            (name.clone(), content.synced)
        });
        files.collect()
    }

    fn content(&mut self, name: &str) -> Option<&mut Content> {
        let index = *self.now.get(name)?;
        self.contents.get_mut(index)
    }

    fn change(&mut self, name: &str, change: Change) {
        if let Some(content) = self.content(name) {
            content.changes.push(change);
        }
    }

    /// Returns what the disk may have, and how many changes were not synced.
    fn cut(mut self, random: &mut fastrand::Rng) -> (BTreeMap<String, Vec<u8>>, usize) {
        let unsynced = self.contents.iter().map(|content| content.changes.len());
        let unsynced = unsynced.sum();
        let kept = [Kept::Nothing, Kept::All, Kept::Some, Kept::Some][random.usize(..4)];
        // Each name that was made or removed since the folder was synced is there, or not.
        let mut names = self.synced.clone();
        for name in self.now.keys().chain(self.synced.keys()) {
            let keeps = match kept {
                Kept::Nothing => false,
                Kept::All => true,
                Kept::Some => random.bool(),
            };
            if keeps {
                match self.now.get(name) {
                    Some(content) => names.insert(name.clone(), *content),
                    None => names.remove(name),
                };
            }
        }
        let left = names.into_iter().map(|(name, content)| {
            let content = self.contents.get_mut(content).expect("it has a content");
            (name, content.cut(kept, random))
        });
        (left.collect(), unsynced)
    }
}

impl Content {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            change.apply(&mut self.synced);
        }
    }

    /// Returns what the disk may have of the file.
    fn cut(&self, kept: Kept, random: &mut fastrand::Rng) -> Vec<u8> {
        let mut left = self.synced.clone();
        for change in &self.changes {
            match kept {
                Kept::Nothing => {}
                Kept::All => change.apply(&mut left),
                Kept::Some => {
                    for part in change.sectors() {
                        if random.bool() {
                            part.apply(&mut left);
                        }
                    }
                }
            }
        }
        left
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write(at, data) => {
                let (at, end) = (*at as usize, *at as usize + data.len());
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[at..end].copy_from_slice(data);
            }
            Self::Cut(size) => content.resize(*size as usize, 0),
        }
    }

    /// Returns the change as what a disk does as a whole each.
    fn sectors(&self) -> Vec<Self> {
        let Self::Write(at, data) = self else {
            return vec![self.clone()];
        };
        let mut parts = Vec::new();
        let (mut at, mut data) = (*at, &data[..]);
        while !data.is_empty() {
            let length = (SECTOR - at % SECTOR).min(data.len() as u64);
            let (part, rest) = data.split_at(length as usize);
            parts.push(Self::Write(at, part.to_vec()));
            (at, data) = (at + length, rest);
        }
        parts
    }
}
