//! Sample credentials are put together at run time: no file of this repository holds one.
#![allow(clippy::unwrap_used)]

use bilinc_core::Json;

use super::{FoundSecret, find_secret, find_secret_in_text};

const ALPHABET: &str = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ";

/// So many letters and digits.
fn letters(count: usize) -> String {
    ALPHABET.chars().cycle().take(count).collect()
}

fn hex(count: usize) -> String {
    "0a1b2c3d4e5f6789".chars().cycle().take(count).collect()
}

fn capitals(count: usize) -> String {
    letters(count).to_uppercase()
}

fn pem(label: &str) -> String {
    format!("{dashes}BEGIN {label}{dashes}\n{}\n{dashes}END {label}{dashes}\n", letters(64), dashes = "-".repeat(5))
}

fn jwt() -> String {
    // {"alg":"HS256","typ":"JWT"} and {"sub":"1234567890"}
    ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", &letters(43)].join(".")
}

/// Each kind with samples of it.
fn samples() -> Vec<(&'static str, String)> {
    vec![
        ("bilinc_key", ["bil_", "live_", &letters(32)].concat()),
        ("bilinc_key", ["bil_", "test_", &letters(32)].concat()),
        ("aws_access_key_id", ["AK", "IA", &capitals(16)].concat()),
        ("aws_access_key_id", ["AS", "IA", &capitals(16)].concat()),
        ("aws_secret_access_key", ["aws_secret_access_key = ", &letters(38), "/+"].concat()),
        ("aws_secret_access_key", ["\"SecretAccessKey\": \"", &letters(40), "\""].concat()),
        ("aws_secret_access_key", ["the secret access key is ", &letters(40), "."].concat()),
        ("azure_storage_key", ["AccountName=shop;AccountKey=", &letters(86), "==;EndpointSuffix=x"].concat()),
        ("google_api_key", ["AI", "za", &letters(35)].concat()),
        ("digitalocean_token", ["dop_", "v1_", &hex(64)].concat()),
        ("github_token", ["gh", "p_", &letters(36)].concat()),
        ("github_token", ["gh", "o_", &letters(36)].concat()),
        ("github_token", ["gh", "u_", &letters(36)].concat()),
        ("github_token", ["gh", "s_", &letters(36)].concat()),
        ("github_token", ["gh", "r_", &letters(36)].concat()),
        ("github_token", ["github_", "pat_", &letters(22), "_", &letters(59)].concat()),
        ("gitlab_token", ["gl", "pat-", &letters(20)].concat()),
        ("slack_token", ["xox", "b-", "123456789012-123456789012-", &letters(24)].concat()),
        ("slack_token", ["xox", "p-", "123456789012-", &letters(24)].concat()),
        ("stripe_key", ["sk_", "live_", &letters(24)].concat()),
        ("stripe_key", ["rk_", "live_", &letters(99)].concat()),
        ("anthropic_key", ["sk-", "ant-", "api03-", &letters(93), "AA"].concat()),
        ("openai_key", ["sk-", &letters(48)].concat()),
        ("openai_key", ["sk-", "proj-", &letters(40), "_", &letters(40), "-", &letters(40)].concat()),
        ("npm_token", ["npm", "_", &letters(36)].concat()),
        ("pypi_token", ["py", "pi-", "AgEIcHlwaS5vcmcC", &letters(120)].concat()),
        ("huggingface_token", ["h", "f_", &letters(34)].concat()),
        ("sendgrid_key", ["S", "G.", &letters(22), ".", &letters(43)].concat()),
        ("twilio_key", ["S", "K", &hex(32)].concat()),
        ("private_key", pem("PRIVATE KEY")),
        ("private_key", pem("RSA PRIVATE KEY")),
        ("private_key", pem("OPENSSH PRIVATE KEY").replace('\n', "\\n")),
        ("private_key", pem("PGP PRIVATE KEY BLOCK")),
        ("jwt", jwt()),
    ]
}

#[track_caller]
fn found(kind: &'static str, path: &str) -> Option<FoundSecret> {
    Some(FoundSecret { kind, path: path.into() })
}

#[test]
fn every_kind_is_found_alone_and_within_prose() {
    for (kind, secret) in samples() {
        let texts = [
            secret.clone(),
            format!("the token is {secret}, keep it"),
            format!("export TOKEN={secret}"),
            format!("curl -H 'Authorization: Bearer {secret}' https://example.org"),
            format!("first\\n{secret}"),
            format!("(`{secret}`)."),
            format!("{{\"token\":\"{}\"}}", secret.replace('"', "\\\"")),
        ];
        for text in texts {
            assert_eq!(find_secret_in_text(&text), found(kind, "$"), "{text}");
            assert_eq!(find_secret(Json::string(&text).as_str()), found(kind, "$"), "{text}");
        }
    }
}

#[test]
fn the_path_leads_to_the_string() {
    let token = ["gh", "p_", &letters(36)].concat();
    for (json, path) in [
        (format!(r#"{{"a":[1,{{}},{{"x":[],"token":"{token}"}}]}}"#), "$.a[2].token"),
        (format!(r#"["a","b,c]}}","{token}"]"#), "$[2]"),
        (format!(r#"{{"a b":{{"":"{token}"}}}}"#), r#"$["a b"][""]"#),
        (format!(r#"{{ "a" : 1 , "q\"\\" : [ "{token}" ] }}"#), r#"$["q\"\\"][0]"#),
        (format!(r#"[[["{token}"]]]"#), "$[0][0][0]"),
    ] {
        assert_eq!(find_secret(&json), found("github_token", path), "{json}");
    }
}

#[test]
fn a_credential_as_a_member_name_is_found_and_not_shown() {
    let token = ["gh", "p_", &letters(36)].concat();
    let json = format!(r#"{{"users":[{{"{token}":{{"name":"x"}}}}]}}"#);
    assert_eq!(find_secret(&json), found("github_token", "$.users[0]"));
}

#[test]
fn escapes_hide_nothing() {
    let token = ["gh", "p_", &letters(36)].concat();
    let escaped: String = token.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    assert_eq!(find_secret(&format!(r#"{{"k":"{escaped}"}}"#)), found("github_token", "$.k"));
}

#[test]
fn a_member_name_says_what_a_value_without_a_mark_is() {
    let (aws, azure) = (letters(40), letters(86) + "==");
    for (json, expected) in [
        (format!(r#"{{"aws_secret_access_key":"{aws}"}}"#), found("aws_secret_access_key", "$.aws_secret_access_key")),
        (format!(r#"{{"SecretAccessKey":["{aws}"]}}"#), found("aws_secret_access_key", "$.SecretAccessKey[0]")),
        (format!(r#"{{"AccountKey":"{azure}"}}"#), found("azure_storage_key", "$.AccountKey")),
        (format!(r#"{{"digest":"{aws}","image":"{azure}"}}"#), None),
        (format!(r#"{{"aws_secret_access_key":"{}"}}"#, hex(40)), None),
    ] {
        assert_eq!(find_secret(&json), expected, "{json}");
    }
}

#[test]
fn a_service_account_is_told_from_other_keys() {
    let key = Json::string(&pem("PRIVATE KEY"));
    let json = format!(r#"{{"type":"service_account","private_key":{key},"client_email":"x"}}"#);
    assert_eq!(find_secret(&json), found("gcp_service_account_key", "$.private_key"));
}

#[test]
fn what_speaks_of_credentials_or_looks_like_code_passes() {
    let dashes = "-".repeat(5);
    let texts = [
        "sk-learn is the old name of scikit-learn; see sk-estimator-doc-link and sk-toggleable__content2",
        "AKIA is the prefix of AWS access key ids, ASIA that of temporary ones: AKIA + 16 characters",
        "the JWT has three parts: header.payload.signature, and the first begins with eyJ",
        "a token such as eyJhbGciOiJIUzI1NiJ9.payload.signature",
        "GitHub tokens begin with ghp_ or github_pat_; in code: ghp_token_from_environment_variable()",
        "set OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx or sk-proj-...",
        "sk-proj-your-api-key-goes-here-please and sk-ant-your-own-api-key-goes-here",
        "pypi-server-with-some-rather-long-name-and-version-1-2-3-and-more-of-it",
        "npm_config_registry, npm_lifecycle_event, hf_hub_download, hf_transfer_enabled_by_default_2024",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b, secret_key = 3f786850e387550fdab836ed7e6dc881de23001b",
        "SKU4711 and SKETCH; risk-assessment-of-something-2024; task-1234567890abcdef1234567890",
        "id 550e8400-e29b-41d4-a716-446655440000 in https://example.org/a.b.c/eyJ/index.html?x=SG.1.2",
        "xoxb- is a Slack prefix; the MSG.format.template; glpat-your-personal-access-token",
        "std::collections::HashMap<String, Vec<u8>> and module.submodule.function_with_a_long_name.result",
        "AccountKey=<key>;EndpointSuffix=core.windows.net and aws_secret_access_key = ${AWS_SECRET}",
        "Gizli anahtar `.env` içinde; 秘密キーは環境変数にあります — nothing of it is here 🔑🔑🔑",
    ];
    for text in texts {
        assert_eq!(find_secret_in_text(text), None, "{text}");
        assert_eq!(find_secret(Json::string(text).as_str()), None, "{text}");
    }
    for text in [
        format!("PEM files begin with `{dashes}BEGIN PRIVATE KEY{dashes}` and hold base64"),
        format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}\n...\n{dashes}END RSA PRIVATE KEY{dashes}"),
        pem("CERTIFICATE"),
        pem("PUBLIC KEY"),
        letters(5000),
        format!("data:image/png;base64,{}==", letters(4000)),
    ] {
        assert_eq!(find_secret_in_text(&text), None, "{text}");
    }
}

#[test]
fn a_longer_or_shorter_run_is_no_credential_of_a_fixed_length() {
    for text in [
        ["AK", "IA", &capitals(15)].concat(),
        ["AK", "IA", &capitals(17)].concat(),
        ["AI", "za", &letters(34)].concat(),
        ["S", "K", &hex(33)].concat(),
        ["x", "AK", "IA", &capitals(16)].concat(),
        ["gh", "p_", &letters(20)].concat(),
    ] {
        assert_eq!(find_secret_in_text(&text), None, "{text}");
    }
}

#[test]
fn a_long_member_name_is_cut_in_the_path() {
    let token = ["gh", "p_", &letters(36)].concat();
    let path = find_secret(&format!(r#"{{"{}":"{token}"}}"#, "n ".repeat(10_000))).unwrap().path;
    assert!(path.ends_with("…\"]") && path.len() < 100, "{path}");
}

#[test]
fn broken_and_deep_texts_end_without_harm() {
    let token = ["gh", "p_", &letters(36)].concat();
    let deep = format!("{}\"{token}\"{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(find_secret(&deep).unwrap().path, format!("${}", "[0]".repeat(100)));
    for broken in [
        "\"",
        "{\"a",
        "]]]]}}}},,,,,\"\\",
        "\"\\u12",
        "[\"aaaaaaaaaaaaaaaaaaaaaaaaaa\\",
        "{\"\\ud800aaaaaaaaaaaaaaaaaaaa\":1",
    ] {
        assert_eq!(find_secret(broken), None, "{broken}");
    }
}
