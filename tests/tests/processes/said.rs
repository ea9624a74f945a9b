//! What workers say of their work, as lines.

use std::hash::{DefaultHasher, Hash, Hasher};

use bilinc::{Json, Seq, Version};

/// An operation that was acknowledged. All words are without white space; `-` is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// The idempotency key.
    pub(super) name: String,
    pub(super) seq: Seq,
    /// The event there.
    pub(super) event: String,
    pub(super) key: Option<String>,
    pub(super) version: Option<Version>,
    pub(super) digest: Option<u64>,
}

/// A line of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// It begins an operation under this name; all that is needed to do the very same again, if it is a
    /// commit.
    Begins {
        name: String,
        again: Option<(String, u64)>,
    },
    Acknowledged(Acknowledged),
    /// A repeated operation was acknowledged; whether it had been done before.
    Repeated {
        replayed: bool,
    },
    Refused {
        name: String,
    },
    /// It has seen what another was told at this position.
    Saw(Seq),
    /// All operations are done.
    Done,
}

pub(super) fn digest(value: &Json) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.as_str().hash(&mut hasher);
    hasher.finish()
}

impl Acknowledged {
    pub(super) fn to_line(&self) -> String {
        let key = self.key.as_deref().unwrap_or("-");
        let version = self.version.map_or_else(|| "-".to_owned(), |version| version.to_string());
        let digest = self.digest.map_or_else(|| "-".to_owned(), |digest| digest.to_string());
        format!("{} {} {} {key} {version} {digest}", self.name, self.seq, self.event)
    }

    pub(super) fn from_line(line: &str) -> Self {
        let words: Vec<_> = line.split(' ').collect();
        let [name, seq, event, key, version, digest] = words[..] else { panic!("no acknowledgement: {line}") };
        let some = |word: &str| (word != "-").then(|| word.to_owned());
        Self {
            name: name.to_owned(),
            seq: Seq::new(seq.parse().unwrap()),
            event: event.to_owned(),
            key: some(key),
            version: some(version).map(|version| version.parse().unwrap()),
            digest: some(digest).map(|digest| digest.parse().unwrap()),
        }
    }
}

impl Said {
    pub(super) fn to_line(&self) -> String {
        match self {
            Self::Begins { name, again: None } => format!("begins {name}"),
            Self::Begins { name, again: Some((key, size)) } => format!("begins {name} {key} {size}"),
            Self::Acknowledged(done) => format!("acknowledged {}", done.to_line()),
            Self::Repeated { replayed } => format!("repeated {replayed}"),
            Self::Refused { name } => format!("refused {name}"),
            Self::Saw(seq) => format!("saw {seq}"),
            Self::Done => "done".to_owned(),
        }
    }

    pub(super) fn from_line(line: &str) -> Self {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "begins" => {
                let words: Vec<_> = rest.split(' ').collect();
                let again = words.get(1).map(|key| ((*key).to_owned(), words[2].parse().unwrap()));
                Self::Begins { name: words[0].to_owned(), again }
            }
            "acknowledged" => Self::Acknowledged(Acknowledged::from_line(rest)),
            "repeated" => Self::Repeated { replayed: rest.parse().unwrap() },
            "refused" => Self::Refused { name: rest.to_owned() },
            "saw" => Self::Saw(Seq::new(rest.parse().unwrap())),
            "done" => Self::Done,
            _ => panic!("no line of a worker: {line}"),
        }
    }
}
