//! Generates the JSON Schema of a deck, for editors, from the table of keys.

use super::check::literal;
use super::keys::{self, Default, Interval, Key, Kind, Section, sections_inside};
use super::value::Value;
use crate::units::{Dimension, UnitSystem};
use serde_json::{Map, Value as Json, json};

/// Returns the JSON Schema (draft 2020-12) of a deck.
pub fn schema() -> Json {
    let mut schema = keys::section_at("").map_or(json!({}), object);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("hilbrium deck");
    schema["required"] = json!(["run", "start"]);
    let physics =
        ["sph", "gravity", "interaction", "external"].map(|section| json!({ "required": [section] }));
    schema["anyOf"] = json!(physics);
    schema["properties"]["run"]["anyOf"] = json!([{ "required": ["end_time"] }, { "required": ["steps"] }]);
    schema["properties"]["start"]["minProperties"] = json!(1);
    schema["properties"]["start"]["maxProperties"] = json!(1);
    schema
}

fn object(section: &Section) -> Json {
    let mut properties = Map::new();
    for key in section.keys.iter().filter(|key| key.name != keys::CHOSEN) {
        properties.insert(key.name.into(), property(key));
    }
    let mut others = section.chosen_key().map_or(json!(false), property);
    for (name, inner) in sections_inside(section.path) {
        match name {
            "*" => others = object(inner),
            _ => drop(properties.insert(name.into(), object(inner))),
        }
    }
    let required: Vec<&str> = section
        .keys
        .iter()
        .filter(|key| matches!(key.default, Default::Required))
        .map(|key| key.name)
        .collect();
    let mut object = json!({
        "type": "object",
        "description": section.meaning,
        "additionalProperties": others,
        "properties": properties,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if section.one_of {
        let intervals = section.keys.iter().filter(|key| key.is_interval());
        object["oneOf"] = intervals.map(|key| json!({ "required": [key.name] })).collect();
    }
    object
}

fn property(key: &Key) -> Json {
    let three = |one: Json| {
        let list = json!({ "type": "array", "items": one.clone(), "minItems": 3, "maxItems": 3 });
        json!({ "anyOf": [one, list] })
    };
    let mut property = match &key.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string", "minLength": 1 } }),
        Kind::Path => json!({ "type": "string", "minLength": 1 }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(names) => json!({ "enum": names }),
        Kind::Choices(names) => three(json!({ "enum": names })),
        Kind::Integer(interval) => bounded("integer", interval),
        Kind::Integers(interval) => three(bounded("integer", interval)),
        Kind::Number(interval, dimension) => quantity(interval, *dimension),
        Kind::Numbers(interval, dimension) => three(quantity(interval, *dimension)),
    };
    property["description"] = json!(key.meaning);
    if let Default::Value(text) = key.default {
        property["default"] = json_of(&literal(&key.kind, text));
    }
    property
}

fn quantity(interval: &Interval, dimension: Dimension) -> Json {
    json!({ "anyOf": [bounded("number", interval), { "type": "string", "pattern": pattern(dimension) }] })
}

/// Returns the regular expression of a quantity in quotes. The units depend on the deck's unit system, which
/// a schema cannot follow, so it accepts the units of any system.
fn pattern(dimension: Dimension) -> String {
    let number = r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?";
    let names = dimension.units(UnitSystem::Molecular).iter().map(|unit| unit.0.replace('^', r"\^"));
    let units = names.collect::<Vec<_>>().join("|");
    match dimension {
        Dimension::Code => format!("^{number}(/{number})?$"),
        Dimension::WallTime => format!("^({number} *({units}) *)+$"),
        _ => format!("^{number}((/{number})?| *({units}))$"),
    }
}

fn bounded(kind: &str, interval: &Interval) -> Json {
    let end = |value: f64| if kind == "integer" { json!(value as i64) } else { json!(value) };
    let mut schema = json!({ "type": kind });
    if interval.lower.is_finite() {
        let name = if interval.lower_allowed { "minimum" } else { "exclusiveMinimum" };
        schema[name] = end(interval.lower);
    }
    if interval.upper.is_finite() {
        let name = if interval.upper_allowed { "maximum" } else { "exclusiveMaximum" };
        schema[name] = end(interval.upper);
    }
    schema
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Texts(texts) => json!(texts),
        Value::Flag(flag) => json!(flag),
        Value::Choice(name) => json!(name),
        Value::Choices(names) => json!(names[0]),
        Value::Integer(integer) => json!(integer),
        Value::Integers(integers) => json!(integers),
        Value::Number(number) => json!(number),
        Value::Numbers(numbers) => json!(numbers[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::keys::SECTIONS;

    #[test]
    fn every_default_is_a_value_of_its_key() {
        for section in SECTIONS {
            for key in section.keys {
                if let Default::Value(text) = key.default {
                    let value = literal(&key.kind, text);
                    assert_eq!(literal(&key.kind, &value.to_toml()), value, "{}.{}", section.path, key.name);
                }
                assert!(key.meaning.ends_with('.'), "{}.{}", section.path, key.name);
            }
        }
    }

    #[test]
    fn every_section_stands_after_the_one_around_it() {
        for (k, section) in SECTIONS.iter().enumerate().skip(1) {
            let around = section.path.rsplit_once('.').map_or("", |(around, _)| around);
            assert!(SECTIONS[..k].iter().any(|other| other.path == around), "{}", section.path);
        }
    }

    #[test]
    fn the_schema_names_every_key() {
        let schema = schema();
        for section in SECTIONS {
            let mut at = &schema;
            for name in section.path.split('.').filter(|name| !name.is_empty()) {
                at = if name == "*" { &at["additionalProperties"] } else { &at["properties"][name] };
            }
            let named =
                section.chosen_key().is_some() || sections_inside(section.path).any(|(name, _)| name == "*");
            assert!(named == at["additionalProperties"].is_object(), "{}", section.path);
            for key in section.keys.iter().filter(|key| key.name != keys::CHOSEN) {
                assert!(
                    at["properties"][key.name]["description"].is_string(),
                    "{}.{}",
                    section.path,
                    key.name
                );
            }
        }
        assert_eq!(schema["properties"]["gravity"]["properties"]["opening_angle"]["default"], json!(0.5));
    }
}
