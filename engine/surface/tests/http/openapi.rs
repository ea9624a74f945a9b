//! The description of the interface, as it was promised.

use serde_json::Value;

use crate::server::Server;

/// A changed description is a changed promise: change this file knowingly. With `BILINC_GOLDEN=write`
/// in its environment the test writes it anew.
const GOLDEN: &str = "tests/http/openapi.json";

#[test]
fn the_description_is_the_one_that_was_promised() {
    let server = Server::new();
    let served: Value = serde_json::from_slice(&server.client.nobody().get("/api/openapi.json").body).unwrap();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let drawn = serde_json::to_string_pretty(&served).unwrap() + "\n";
    if std::env::var_os("BILINC_GOLDEN").is_some_and(|word| word == "write") {
        std::fs::write(&path, &drawn).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    let differs = golden.lines().zip(drawn.lines()).find(|(golden, drawn)| golden != drawn);
    assert!(golden == drawn, "the description changed at {differs:?}; see the note above");
}
