//! JSON objects, key by key, without trees: values stay as they stand in the text until somebody
//! asks what they are.

use std::borrow::Cow;
use std::fmt;

use formats::model::Value;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object's keys and values, in its order. Of a key that stands there twice, the last counts.
#[derive(Debug)]
pub(super) struct Fields<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> Fields<'l> {
    pub(super) fn get(&self, key: &str) -> Option<&'l RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// A key's value; NULL where there is none.
    pub(super) fn value(&self, key: &str) -> Value<'l> {
        self.get(key).map_or(Value::Null, value)
    }

    /// A key's text, where it has some.
    pub(super) fn text(&self, key: &str) -> Option<Cow<'l, str>> {
        match self.value(key) {
            Value::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A key's array; `None` where it is something else.
    pub(super) fn array(&self, key: &str) -> Option<Vec<&'l RawValue>> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }
}

impl<'l> IntoIterator for Fields<'l> {
    type Item = (Cow<'l, str>, &'l RawValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Text that borrows where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

impl<'de: 'l, 'l> Deserialize<'de> for Fields<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Fields<'de>, A::Error> {
        let mut fields: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
        while let Some((Text(key), value)) = entries.next_entry::<Text<'de>, &'de RawValue>()? {
            if fields.len() == MAX_KEYS {
                return Err(A::Error::custom("too many keys in one object"));
            }
            match fields.iter_mut().find(|(other, _)| *other == key) {
                Some((_, old)) => *old = value,
                None => fields.push((key, value)),
            }
        }
        Ok(Fields(fields))
    }
}

/// More keys than any row has columns.
const MAX_KEYS: usize = 1000;

/// What a piece of JSON is as a value of a column. Of a message's content and calls whatever is not
/// text has been JSON in the store, to the last digit.
pub(super) fn cell<'l>(column: &str, raw: &'l RawValue) -> Value<'l> {
    match value(raw) {
        Value::Integer(_) | Value::Real(_) if matches!(column, "content" | "tool_calls") => {
            Value::Json(Cow::Borrowed(raw.get()))
        }
        value => value,
    }
}

/// What a piece of JSON is as a value: what is neither text nor a number stays JSON.
pub(super) fn value(raw: &RawValue) -> Value<'_> {
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'n') => Value::Null,
        Some(b'"') => string(json),
        Some(b'-' | b'0'..=b'9') => number(json),
        _ => sound(json),
    }
}

fn string(json: &str) -> Value<'_> {
    if let Ok(Text(text)) = serde_json::from_str(json) {
        return Value::Text(text);
    }
    // A lone surrogate, which becomes U+FFFD.
    let repaired = formats::check_json(json);
    let repaired = repaired.and_then(|checked| serde_json::from_str(&checked.text).ok());
    Value::Text(Cow::Owned(repaired.unwrap_or_default()))
}

/// A number to the last digit; one that nothing here can hold is no value.
fn number(json: &str) -> Value<'_> {
    if let Ok(whole) = json.parse() {
        return Value::Integer(whole);
    }
    let number = json.parse().ok().filter(|number: &f64| number.is_finite());
    number.map_or(Value::Null, Value::Real)
}

/// JSON without lone surrogates.
fn sound(json: &str) -> Value<'_> {
    let has_surrogate = json.contains("\\ud") || json.contains("\\uD");
    let checked = has_surrogate.then(|| formats::check_json(json)).flatten();
    Value::Json(checked.map_or(Cow::Borrowed(json), |checked| checked.text))
}

#[cfg(test)]
mod tests {
    use formats::model::Value;
    use serde_json::value::RawValue;

    use super::{Fields, value};

    fn of(json: &str) -> Value<'static> {
        value(&RawValue::from_string(json.to_owned()).unwrap()).into_owned()
    }

    #[test]
    fn numbers_are_taken_to_the_last_digit() {
        assert_eq!(of("9007199254740993"), Value::Integer(9_007_199_254_740_993));
        assert_eq!(of("1783641600.1234567"), Value::Real(1_783_641_600.123_456_7));
        assert_eq!(of("5.0"), Value::Real(5.0));
        assert_eq!(of("1e999"), Value::Null);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        assert_eq!(of(r#""a\ud800b""#), Value::Text("a\u{fffd}b".into()));
        assert_eq!(of(r#"["\ud800"]"#), Value::Json(r#"["\ufffd"]"#.into()));
        assert_eq!(of(r#""\ud83d\ude00""#), Value::Text("😀".into()));
    }

    #[test]
    fn of_a_key_that_stands_there_twice_the_last_counts() {
        let fields: Fields<'_> = serde_json::from_str(r#"{"a": 1, "b": 2, "a": [3]}"#).unwrap();
        assert_eq!(fields.value("a"), Value::Json("[3]".into()));
        assert_eq!(fields.into_iter().count(), 2);
    }
}
