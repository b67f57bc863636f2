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

/// Reads a line of COM2.
pub fn parse(value: Value) -> Event {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    match (value["type"].as_str(), value["event"].as_str()) {
        (Some("test"), Some("start")) => Event::Start(text("name")),
        (Some("test"), Some("pass")) => Event::Pass(text("name")),
        (Some("test"), Some("fail")) => {
            Event::Fail { name: text("name"), message: text("message") }
        }
        (Some("panic"), _) => Event::Panic(text("message")),
        (Some("facts"), _) => Event::Facts(value),
        _ => Event::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_become_events() {
        let fail = json!({"type": "test", "event": "fail", "name": "a::b", "message": "no"});
        assert_eq!(parse(fail), Event::Fail { name: "a::b".into(), message: "no".into() });
        assert_eq!(parse(json!({"type": "panic", "message": "x"})), Event::Panic("x".into()));
        assert_eq!(parse(json!({"type": "boot"})), Event::Other);
        assert_eq!(parse(json!(7)), Event::Other);
    }
}
