//! Cargo's messages in JSON, one a line.

use std::path::PathBuf;

use serde::Deserialize;

/// What we read of a message; a message of another kind lacks the path.
#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
}

/// The last executable that cargo's messages name.
pub(super) fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter_map(|message| message.executable)
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_artifact_with_a_path_is_it() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"name":"nearmem"},"executable":null}
{"reason":"build-script-executed","out_dir":"/t/out"}
not JSON: something that a test printed
{"reason":"compiler-artifact","target":{"name":"kernel"},"executable":"/t/kernel","fresh":true}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(executable(messages), Some("/t/kernel".into()));
        assert_eq!(executable("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }
}
