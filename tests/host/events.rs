//! What a guest says on COM2, as far as the runner listens.

use serde_json::Value;

/// One line of COM2.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A test begins.
    Start(String),
    /// A test passed.
    Pass(String),
    /// A test failed.
    Fail {
        /// Its name.
        name: String,
        /// Why.
        message: String,
    },
    /// The kernel panicked.
    Panic(String),
    /// The kernel's facts.
    Facts(Value),
    /// Something else: nothing that the runner needs.
    Other,
}

/// Reads a line. What is no JSON object is [`Event::Other`], too: a guest that dies may leave half
/// a line.
pub fn parse(line: &str) -> Event {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return Event::Other };
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    match (value["type"].as_str(), value["event"].as_str()) {
        (Some("test"), Some("start")) => Event::Start(text("name")),
        (Some("test"), Some("pass")) => Event::Pass(text("name")),
        (Some("test"), Some("fail")) => Event::Fail { name: text("name"), message: text("message") },
        (Some("panic"), _) => Event::Panic(text("message")),
        (Some("facts"), _) => Event::Facts(value),
        _ => Event::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_events() {
        assert_eq!(
            parse(r#"{"type":"test","event":"fail","name":"a::b","message":"no"}"#),
            Event::Fail { name: "a::b".into(), message: "no".into() }
        );
        assert_eq!(parse(r#"{"type":"panic","message":"x"}"#), Event::Panic("x".into()));
        assert_eq!(parse(r#"{"type":"boot"}"#), Event::Other);
        assert_eq!(parse(r#"{"type":"te"#), Event::Other);
    }
}
