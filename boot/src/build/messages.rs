//! Cargo's messages in JSON, one a line.

use std::path::PathBuf;

use serde::Deserialize;

/// What we read of a message; a message of another kind lacks the paths.
#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The last executable that cargo's messages name.
pub(super) fn executable(messages: &str) -> Option<PathBuf> {
    artifacts(messages).filter_map(|message| message.executable).last()
}

/// The last shared object that they name. What a build needs for itself, such as the code of derive
/// macros, comes before what was asked for.
pub(super) fn shared_object(messages: &str) -> Option<PathBuf> {
    let is_shared = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "so");
    artifacts(messages).flat_map(|message| message.filenames).filter(is_shared).last()
}

fn artifacts(messages: &str) -> impl Iterator<Item = Message> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_objects_are_told_by_their_names() {
        let messages = r#"{"reason":"compiler-artifact","filenames":["/t/libderive.so"],"executable":null}
{"reason":"compiler-artifact","filenames":["/t/libp.so","/t/libp.rlib"],"executable":null}"#;
        assert_eq!(shared_object(messages), Some("/t/libp.so".into()));
    }

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
        assert_eq!(shared_object(messages), None);
        assert_eq!(executable("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }
}
