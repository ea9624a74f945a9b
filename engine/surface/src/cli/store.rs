//! Finding and opening the store.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bilinc::log::LogError;
use bilinc::{Actor, EngineError, Error, Memory, MemoryBuilder, Rejection, SalvageReport};

use super::args::Globals;
use super::errors::CliError;
use super::write::RequestArgs;
use crate::mcp;

/// A store, or the emptiness where one would be.
pub(super) struct Store {
    /// The handle.
    pub(super) memory: Memory,
    /// Its folder.
    pub(super) path: PathBuf,
    /// Whether it is there.
    pub(super) exists: bool,
}

/// What a command needs of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Takes no lock of the log and changes nothing in it.
    Read,
    /// Opens for writing, so that it sees what a writer would.
    Inspect,
    /// Changes what is there. Nothing is there in a store that is not, so none is made.
    Change,
    /// Puts something in.
    Create,
}

/// Opens the store for reading.
pub(super) fn read(globals: &Globals) -> Result<Store, CliError> {
    open(globals, Need::Read, false)
}

/// Opens the store as a writer would, to say how it is.
pub(super) fn inspect(globals: &Globals) -> Result<Store, CliError> {
    open(globals, Need::Inspect, false)
}

/// Opens the store to say whether it is well, which is the whole answer: nothing is warned of.
pub(super) fn quietly(globals: &Globals) -> Result<Store, CliError> {
    open(&Globals { json: true, ..globals.clone() }, Need::Inspect, false)
}

/// Opens the store to put something in, and makes it where there is none.
pub(super) fn create(globals: &Globals, args: &RequestArgs) -> Result<Memory, CliError> {
    let store = open(globals, Need::Create, args.allow_secrets)?;
    Ok(args.handle(&store.memory))
}

/// Opens the store.
pub(super) fn open(globals: &Globals, need: Need, allow_secrets: bool) -> Result<Store, CliError> {
    let (path, is_default) = folder(globals)?;
    let builder = Memory::builder()
        .create(need == Need::Create)
        .read_only(need == Need::Read)
        .checkpoints(true)
        .refuse_secrets(!allow_secrets);
    if need == Need::Create {
        make_parent(&path)?;
    }
    refuse_file(&path)?;
    match builder.open(&path) {
        Ok(memory) => {
            // What is answered is true of an earlier time only; nobody may take it for the present.
            if let Some(damage) = memory.damage() {
                let damage = globals.seen.damage.get_or_init(|| damage.to_string());
                // As JSON, standard error holds an error alone; the warning waits for what comes.
                if !globals.json {
                    super::errors::warn_of(damage);
                }
            }
            Ok(Store { memory, path, exists: true })
        }
        // A default store that does not exist yet is empty, and stays so.
        Err(Error::Engine(EngineError::Log(LogError::NotFound { .. }))) if is_default => {
            globals.seen.absent.set(true);
            Ok(Store { memory: Memory::in_memory()?, path, exists: false })
        }
        Err(error) => Err(in_store(error, &path).into()),
    }
}

/// The store to serve to agents: opened by the first call that needs it, made by the first that
/// puts something in.
pub(super) fn served(
    globals: &Globals,
    actor: Actor,
    read_only: bool,
    allow_secrets: bool,
) -> Result<mcp::Store, CliError> {
    let (path, is_default) = folder(globals)?;
    refuse_file(&path)?;
    let shown = path.display().to_string();
    let open = move |create: bool| {
        let create = create && !read_only;
        if let Some(parent) = parent(&path).filter(|_| create) {
            std::fs::create_dir_all(parent).map_err(|source| {
                let path = parent.display().to_string();
                EngineError::from(LogError::Io { path, doing: "make the folder", source })
            })?;
        }
        let builder = Memory::builder().create(create).read_only(read_only).checkpoints(true);
        match builder.refuse_secrets(!allow_secrets).actor(actor.clone()).open(&path) {
            Ok(memory) => Ok(Some(memory)),
            Err(Error::Engine(EngineError::Log(LogError::NotFound { .. }))) => Ok(None),
            Err(error) => Err(in_store(error, &path)),
        }
    };
    // What was named to be read has to be there; a default store may come later.
    if read_only && !is_default && open(false)?.is_none() {
        return Err(not_found(Path::new(&shown)));
    }
    Ok(mcp::Store::when_needed(shown, open))
}

/// The failure of what needs a store where there is none.
pub(super) fn not_found(path: &Path) -> CliError {
    Error::Engine(LogError::NotFound { path: path.display().to_string() }.into()).into()
}

/// Salvages the store, or looks at what that would do; none where there is no store yet.
pub(super) fn salvage(
    globals: &Globals,
    act: impl FnOnce(MemoryBuilder, &Path) -> Result<SalvageReport, Error>,
) -> Result<Option<SalvageReport>, CliError> {
    let (path, is_default) = folder(globals)?;
    refuse_file(&path)?;
    match act(Memory::builder(), &path) {
        Ok(report) => Ok(Some(report)),
        Err(Error::Engine(EngineError::Log(LogError::NotFound { .. }))) if is_default => Ok(None),
        Err(error) => Err(in_store(error, &path).into()),
    }
}

/// The store's folder, and whether nobody named it.
fn folder(globals: &Globals) -> Result<(PathBuf, bool), CliError> {
    let variable = |name: &str| std::env::var_os(name);
    let named = named_folder(globals.store.as_deref(), variable);
    let is_default = named.is_none();
    let path = named.map_or_else(|| default_folder(variable, cfg!(target_os = "macos")), Ok)?;
    Ok((path, is_default))
}

fn refuse_file(path: &Path) -> Result<(), CliError> {
    if path.is_file() {
        let message = format!("{} is a file, and a store is a folder", path.display());
        return Err(Rejection::invalid("store", "not_a_folder", message).into());
    }
    Ok(())
}

/// Names the whole path of a file that the log knows by its place in the store.
fn in_store(error: Error, store: &Path) -> Error {
    match error {
        Error::Engine(EngineError::Log(LogError::Io { path, doing, source })) => {
            let path = if path.is_empty() { store.to_owned() } else { store.join(path) };
            Error::Engine(LogError::Io { path: path.display().to_string(), doing, source }.into())
        }
        other => other,
    }
}

/// Makes the folders above the store; the store's own folder is the library's to make.
fn make_parent(path: &Path) -> Result<(), CliError> {
    let Some(parent) = parent(path) else { return Ok(()) };
    std::fs::create_dir_all(parent).map_err(|source| CliError::File {
        doing: "make the folder",
        path: parent.display().to_string(),
        source,
    })
}

fn parent(path: &Path) -> Option<&Path> {
    path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// The store that was named: by its option, else by its variable.
fn named_folder(option: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |path: &PathBuf| !path.as_os_str().is_empty();
    option.map(Path::to_owned).filter(given).or_else(|| variable("BILINC_STORE").map(PathBuf::from).filter(given))
}

/// The store in the user's data folder.
fn default_folder(variable: impl Fn(&str) -> Option<OsString>, macos: bool) -> Result<PathBuf, CliError> {
    data_folder(variable, macos)
        .map(|data| data.join("bilinc"))
        .ok_or_else(|| CliError::usage("store", "there is no home folder to keep a store in: name one with --store"))
}

/// The user's data folder.
pub(super) fn data_folder(variable: impl Fn(&str) -> Option<OsString>, macos: bool) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("XDG_DATA_HOME").or_else(|| {
        let home = folder("HOME")?;
        Some(if macos { home.join("Library/Application Support") } else { home.join(".local/share") })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn found(variables: &[(&str, &str)], macos: bool) -> Option<String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        default_folder(variable, macos).ok().map(|path| path.display().to_string())
    }

    #[test]
    fn the_option_comes_before_the_variable() {
        let variable = |_: &str| Some(OsString::from("v"));
        assert_eq!(named_folder(Some(Path::new("o")), variable), Some(PathBuf::from("o")));
        assert_eq!(named_folder(None, variable), Some(PathBuf::from("v")));
        assert_eq!(named_folder(None, |_| Some(OsString::new())), None);
        assert_eq!(named_folder(None, |_| None), None);
    }

    #[test]
    fn the_default_store_lies_in_the_users_data_folder() {
        assert_eq!(found(&[("HOME", "/h")], false).unwrap(), "/h/.local/share/bilinc");
        assert_eq!(found(&[("HOME", "/h")], true).unwrap(), "/h/Library/Application Support/bilinc");
        assert_eq!(found(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d")], false).unwrap(), "/d/bilinc");
        assert_eq!(found(&[("HOME", "/h"), ("XDG_DATA_HOME", "relative")], false).unwrap(), "/h/.local/share/bilinc");
        assert_eq!(found(&[("HOME", "/h"), ("XDG_DATA_HOME", "")], false).unwrap(), "/h/.local/share/bilinc");
        assert_eq!(found(&[], false), None);
    }
}
