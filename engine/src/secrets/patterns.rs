//! Credentials that begin with a prefix of their issuer's choice.

use super::{is_url_safe, starts_word};

/// One form of credential.
struct Pattern {
    kind: &'static str,
    prefix: &'static str,
    /// Which bytes follow the prefix.
    alphabet: fn(u8) -> bool,
    length: Length,
    /// What else those bytes must be.
    check: fn(&[u8]) -> bool,
}

/// How many bytes follow the prefix.
#[derive(Clone, Copy)]
enum Length {
    /// So many.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
}
use Length::{AtLeast, Exactly};

/// Beyond the least length, this many bytes are looked at. It bounds the work per word.
const SLACK: usize = 64;

const fn row(
    kind: &'static str,
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    length: Length,
    check: fn(&[u8]) -> bool,
) -> Pattern {
    Pattern { kind, prefix, alphabet, length, check }
}

/// Lengths are those that issuers document or use, or a little below where an issuer leaves them
/// open. Where the rest of a prefix could be the words of a name, a digit is asked for.
#[rustfmt::skip]
const PATTERNS: &[Pattern] = &[
    row("bilinc_key", "bil_live_", is_url_safe, AtLeast(16), any),
    row("bilinc_key", "bil_test_", is_url_safe, AtLeast(16), any),
    row("aws_access_key_id", "AKIA", is_upper, Exactly(16), any),
    row("aws_access_key_id", "ASIA", is_upper, Exactly(16), any),
    row("google_api_key", "AIza", is_url_safe, Exactly(35), any),
    row("google_oauth_secret", "GOCSPX-", is_url_safe, Exactly(28), any),
    row("google_oauth_token", "ya29.", is_url_safe, AtLeast(40), has_digit),
    row("digitalocean_token", "dop_v1_", is_hex, Exactly(64), any),
    row("digitalocean_token", "doo_v1_", is_hex, Exactly(64), any),
    row("digitalocean_token", "dor_v1_", is_hex, Exactly(64), any),
    row("github_token", "ghp_", is_alphanumeric, AtLeast(30), any),
    row("github_token", "gho_", is_alphanumeric, AtLeast(30), any),
    row("github_token", "ghu_", is_alphanumeric, AtLeast(30), any),
    row("github_token", "ghs_", is_alphanumeric, AtLeast(30), any),
    row("github_token", "ghr_", is_alphanumeric, AtLeast(30), any),
    row("github_token", "github_pat_", is_word, AtLeast(22), has_digit),
    row("gitlab_token", "glpat-", is_url_safe, AtLeast(20), has_digit),
    row("gitlab_token", "glptt-", is_url_safe, AtLeast(20), has_digit),
    row("gitlab_token", "gldt-", is_url_safe, AtLeast(20), has_digit),
    row("gitlab_token", "glrt-", is_url_safe, AtLeast(20), has_digit),
    row("slack_token", "xoxb-", is_dashed, AtLeast(16), has_digit),
    row("slack_token", "xoxp-", is_dashed, AtLeast(16), has_digit),
    row("slack_token", "xoxa-", is_dashed, AtLeast(16), has_digit),
    row("slack_token", "xoxr-", is_dashed, AtLeast(16), has_digit),
    row("slack_token", "xoxs-", is_dashed, AtLeast(16), has_digit),
    row("slack_token", "xapp-", is_dashed, AtLeast(32), has_digit),
    row("stripe_key", "sk_live_", is_alphanumeric, AtLeast(16), has_digit),
    row("stripe_key", "rk_live_", is_alphanumeric, AtLeast(16), has_digit),
    row("anthropic_key", "sk-ant-", is_url_safe, AtLeast(20), has_digit),
    row("openrouter_key", "sk-or-v1-", is_hex, Exactly(64), any),
    row("openai_key", "sk-proj-", is_url_safe, AtLeast(20), has_digit),
    row("openai_key", "sk-svcacct-", is_url_safe, AtLeast(20), has_digit),
    row("openai_key", "sk-admin-", is_url_safe, AtLeast(20), has_digit),
    row("openai_key", "sk-", is_alphanumeric, AtLeast(20), has_digit),
    row("openai_key", "sk-", is_alphanumeric, AtLeast(40), any),
    row("groq_key", "gsk_", is_alphanumeric, AtLeast(40), any),
    row("xai_key", "xai-", is_alphanumeric, AtLeast(60), any),
    row("perplexity_key", "pplx-", is_alphanumeric, AtLeast(40), any),
    row("replicate_token", "r8_", is_alphanumeric, Exactly(37), any),
    row("huggingface_token", "hf_", is_alphanumeric, AtLeast(30), any),
    row("npm_token", "npm_", is_alphanumeric, AtLeast(30), any),
    row("pypi_token", "pypi-AgE", is_url_safe, AtLeast(16), any),
    row("pypi_token", "pypi-", is_url_safe, AtLeast(48), is_mixed),
    row("rubygems_key", "rubygems_", is_hex, Exactly(48), any),
    row("docker_token", "dckr_pat_", is_url_safe, AtLeast(24), has_digit),
    row("sendgrid_key", "SG.", is_dotted, Exactly(66), is_sendgrid),
    row("twilio_key", "SK", is_hex, Exactly(32), any),
    row("databricks_token", "dapi", is_hex, Exactly(32), any),
    row("shopify_token", "shpat_", is_hex, Exactly(32), any),
    row("shopify_token", "shpss_", is_hex, Exactly(32), any),
    row("linear_key", "lin_api_", is_alphanumeric, Exactly(40), any),
    row("atlassian_token", "ATATT3", is_url_safe, AtLeast(60), any),
    row("vault_token", "hvs.", is_url_safe, AtLeast(60), any),
    row("supabase_token", "sbp_", is_hex, Exactly(40), any),
    row("age_secret_key", "AGE-SECRET-KEY-1", is_upper, Exactly(58), any),
];

/// The kind of the first credential with a prefix.
pub(super) fn token(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(|at| starts_word(bytes, *at)).find_map(|at| {
        let rest = bytes.get(at..)?;
        let first = rest.first()?;
        // Most words begin with no prefix of the table, and one byte tells.
        PATTERNS.iter().filter(|p| p.prefix.as_bytes().first() == Some(first)).find(|p| p.begins(rest)).map(|p| p.kind)
    })
}

impl Pattern {
    fn begins(&self, rest: &[u8]) -> bool {
        let Some(tail) = rest.strip_prefix(self.prefix.as_bytes()) else { return false };
        let (least, looked_at) = match self.length {
            Exactly(bytes) => (bytes, bytes + 1),
            AtLeast(bytes) => (bytes, bytes + SLACK),
        };
        let run = tail.iter().take(looked_at).take_while(|byte| (self.alphabet)(**byte)).count();
        let ends = match self.length {
            Exactly(bytes) => run == bytes,
            AtLeast(bytes) => run >= bytes,
        };
        // A token that goes on as a word of another alphabet is a name, such as a variable's. Behind
        // the bytes looked at, anything may follow.
        let goes_on = run < looked_at && tail.get(run).is_some_and(|byte| is_word(*byte));
        let body = tail.get(..run).unwrap_or_default();
        run >= least && ends && !goes_on && !is_placeholder(body) && (self.check)(body)
    }
}

/// `xxxx…`, as documents write where a credential goes.
fn is_placeholder(body: &[u8]) -> bool {
    body.iter().all(|byte| matches!(byte, b'x' | b'X' | b'-' | b'_' | b'.'))
}

const fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

const fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn is_dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

const fn is_dotted(byte: u8) -> bool {
    is_url_safe(byte) || byte == b'.'
}

fn any(_: &[u8]) -> bool {
    true
}

fn has_digit(body: &[u8]) -> bool {
    body.iter().any(u8::is_ascii_digit)
}

/// Small and capital letters and digits.
pub(super) fn is_mixed(body: &[u8]) -> bool {
    has_digit(body) && body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase)
}

/// 22 and 43 bytes with a dot between.
fn is_sendgrid(body: &[u8]) -> bool {
    body.iter().position(|byte| *byte == b'.') == Some(22) && body.iter().rposition(|byte| *byte == b'.') == Some(22)
}
