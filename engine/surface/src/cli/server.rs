//! Finding the server, where one is named.

use std::ffi::OsString;
use std::sync::Arc;

use super::args::{Command, Globals};
use super::errors::CliError;
use crate::remote::{Address, Client, ServerError, SetUp};

/// The variables that name a server, its key and whom to trust.
const BASE_URL: &str = "BILINC_BASE_URL";
const API_KEY: &str = "BILINC_API_KEY";
const CA_BUNDLE: &str = "BILINC_CA_BUNDLE";

/// Refuses options that name no one place, and a server for what only works on a store.
pub(super) fn check(globals: &Globals, command: Option<&Command>) -> Result<(), CliError> {
    if globals.base_url.is_none() {
        return Ok(());
    }
    if globals.store.is_some() {
        return Err(CliError::usage("base_url", "--store names a folder and --base-url a server: name one of the two"));
    }
    match command.and_then(Command::local_only) {
        Some((name, instead)) => {
            Err(CliError::usage("base_url", format!("`{name}` cannot be asked of a server with --base-url: {instead}")))
        }
        None => Ok(()),
    }
}

/// A client of the server that is named, with its key; none when it is a store that is worked on.
pub(super) fn named(globals: &Globals) -> Result<Option<Arc<Client>>, CliError> {
    let Some(address) = address(globals, |name| std::env::var_os(name))? else { return Ok(None) };
    let key = std::env::var(API_KEY).unwrap_or_default().trim().to_owned();
    if key.is_empty() {
        let message = format!(
            "the server at {address} wants an API key: set {API_KEY}; `bilinc keys create` on its machine makes one"
        );
        return Err(ServerError::new("missing_api_key", "no_key", message).into());
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!("what {API_KEY} holds is no API key");
        return Err(ServerError::new("invalid_api_key", "malformed", message).into());
    }
    client(address, Some(key)).map(Some)
}

/// A client that says nothing of who asks; none when it is a store that is worked on.
pub(super) fn named_for_everybody(globals: &Globals) -> Result<Option<Arc<Client>>, CliError> {
    let address = address(globals, |name| std::env::var_os(name))?;
    address.map(|address| client(address, None)).transpose()
}

fn client(address: Address, key: Option<String>) -> Result<Arc<Client>, CliError> {
    let file = std::env::var_os(CA_BUNDLE).filter(|path| !path.is_empty());
    let failed =
        |path: &OsString, source| CliError::File { doing: "read", path: path.to_string_lossy().into_owned(), source };
    let authorities = file.map(|path| std::fs::read(&path).map_err(|error| failed(&path, error))).transpose()?;
    Ok(Arc::new(Client::new(address, SetUp { key, authorities })?))
}

/// The address of the server. An option comes before a variable; two variables that name different
/// places are no choice.
fn address(globals: &Globals, variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Address>, CliError> {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    let text = match (&globals.base_url, &globals.store) {
        (Some(url), _) => url.clone(),
        (None, Some(path)) if !path.as_os_str().is_empty() => return Ok(None),
        (None, _) => {
            let Some(url) = given(BASE_URL) else { return Ok(None) };
            if given("BILINC_STORE").is_some() {
                let message = format!(
                    "BILINC_STORE names a folder and {BASE_URL} a server: say which one is meant, with --store or \
                     --base-url, or unset one of the two"
                );
                return Err(CliError::usage("base_url", message));
            }
            url.to_string_lossy().into_owned()
        }
    };
    Address::parse(&text).map(Some).map_err(|error| CliError::usage("base_url", error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn found(base_url: Option<&str>, store: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<String>, ()> {
        let globals = Globals {
            store: store.map(Into::into),
            base_url: base_url.map(str::to_owned),
            json: false,
            seen: std::rc::Rc::default(),
        };
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        address(&globals, variable).map(|address| address.map(|address| address.to_string())).map_err(drop)
    }

    #[test]
    fn an_option_comes_before_a_variable_and_two_variables_are_no_choice() {
        let both = [("BILINC_STORE", "s"), (BASE_URL, "http://v")];
        assert_eq!(found(Some("http://o"), None, &both), Ok(Some("http://o".to_owned())));
        assert_eq!(found(None, Some("s"), &both), Ok(None));
        assert_eq!(found(None, None, &both), Err(()));
        assert_eq!(found(None, None, &both[1..]), Ok(Some("http://v".to_owned())));
        assert_eq!(found(None, None, &[("BILINC_STORE", ""), (BASE_URL, "http://v")]), Ok(Some("http://v".to_owned())));
        assert_eq!(found(None, None, &[(BASE_URL, "")]), Ok(None));
        assert_eq!(found(Some("h"), None, &[]), Err(()));
    }
}
