//! The schemas of arguments that models see.

use std::collections::BTreeSet;

use langgraph_agent::__private::{schemars, serde};
use langgraph_agent::schema_of;
use serde_json::json;

#[test]
fn schemas_are_what_providers_take() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    #[allow(dead_code)]
    struct Forecast {
        /// City name.
        city: String,
        #[serde(default)]
        days: u8,
        unit: Option<Unit>,
        title: Place,
        exact: Option<f64>,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    enum Unit {
        Celsius,
        Fahrenheit,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    #[allow(dead_code)]
    struct Place {
        title: String,
        format: i32,
    }
    let schema = schema_of::<Forecast>();
    assert_eq!(schema["required"], json!(["city", "title"]));
    assert_eq!(schema["properties"]["city"]["description"], "City name.");
    assert_eq!(schema["properties"]["days"]["default"], 0);
    // In any order: a dependency of another crate may make `serde_json` keep it.
    let names: BTreeSet<_> = schema["properties"]["title"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, BTreeSet::from(["format", "title"]));
    let text = schema.to_string();
    for refused in [
        "$schema",
        "$ref",
        "$defs",
        "\"title\":\"",
        "uint8",
        "double",
        "int32",
    ] {
        assert!(!text.contains(refused), "{refused} in {text}");
    }
}

#[test]
fn a_type_that_contains_itself_keeps_its_definition() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    #[allow(dead_code)]
    struct Tree {
        children: Vec<Tree>,
    }
    let text = schema_of::<Tree>().to_string();
    assert!(text.contains("$ref"), "{text}");
    assert!(!text.contains("\"title\""), "{text}");
}
