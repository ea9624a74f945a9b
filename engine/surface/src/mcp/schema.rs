//! What an argument is: one table a tool, from which its schema and its reader both come.

use serde_json::{Map, Value, json};

/// What may be given for an argument.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts.
    Texts,
    /// Some of these words.
    Words(&'static [&'static str]),
    /// A whole number in this range.
    Whole(u64, u64),
    /// Whole numbers.
    Wholes,
    /// A number from this one on, up to the other.
    Number(f64, Option<f64>),
    /// Yes or no.
    Flag,
    /// Any JSON.
    Any,
    /// A JSON object.
    Object,
    /// Actions of a dream.
    Actions,
    /// Things of this schema, which the tool reads itself.
    List(fn() -> Value),
}

/// An argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Its name; of one in snake_case the other spelling is taken, too.
    pub(super) name: &'static str,
    /// What may be given.
    pub(super) kind: Kind,
    /// Whether it must be given.
    pub(super) required: bool,
    /// What it is for.
    pub(super) about: &'static str,
    /// What stands in for it.
    pub(super) default: Option<Default>,
}

/// What stands in for an argument that is not given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Default {
    /// A word.
    Word(&'static str),
    /// A whole number.
    Whole(u64),
    /// No.
    No,
}

impl Field {
    /// An argument that must be given.
    pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, about, default: None }
    }

    /// An argument that may be given.
    pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, about, default: None }
    }

    /// With what stands in for it.
    pub(super) const fn or(mut self, default: Default) -> Self {
        self.default = Some(default);
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Word(words) => json!({"type": "string", "enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Words(words) => json!({"type": "array", "items": {"type": "string", "enum": words}}),
            Kind::Whole(least, most) if most == u64::MAX => json!({"type": "integer", "minimum": least}),
            Kind::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::Wholes => json!({"type": "array", "items": {"type": "integer", "minimum": 1}}),
            Kind::Number(least, None) => json!({"type": "number", "exclusiveMinimum": least}),
            Kind::Number(least, Some(most)) => json!({"type": "number", "minimum": least, "maximum": most}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Any => json!({}),
            Kind::Object => json!({"type": "object"}),
            Kind::Actions => actions(),
            Kind::List(items) => json!({"type": "array", "items": items()}),
        };
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), self.about.into());
            let default = self.default.map(|default| match default {
                Default::Word(word) => word.into(),
                Default::Whole(number) => number.into(),
                Default::No => false.into(),
            });
            if let Some(default) = default {
                object.insert("default".to_owned(), default);
            }
        }
        schema
    }
}

fn actions() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "op": {"type": "string", "enum": bilinc::ActionOp::ALL.map(bilinc::ActionOp::name)},
                "key": text("A candidate's key, exactly"),
                "expected_version": text("The candidate's entryVersion; needed but for flag"),
                "new_value": {"description": "The new value, any JSON; for revise only"},
                "merged_from": texts("Keys of the duplicates folded into this one; for revise only"),
                "reason": text("Why, 1 to 512 characters"),
                "evidence_keys": texts("Keys that speak for it"),
            },
            "required": ["op", "key", "reason"],
            "additionalProperties": false,
        },
    })
}

/// The input schema of a tool with these arguments.
pub(super) fn input(fields: &[Field]) -> Map<String, Value> {
    let properties: Map<_, _> = fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
    let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}
