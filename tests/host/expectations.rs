//! What a machine's boot has to say apart from its tests: its findings, its log, its exit code.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::batch::{Outcome, Summary, framed};
use crate::machine_file::MachineFile;

/// Compares the last boot of a machine with what its file expects.
pub fn check(file: &MachineFile, summary: &Summary) -> Outcome {
    let mut complaints = Vec::new();
    if let Some(trouble) = &summary.last.trouble {
        complaints.push(trouble.clone());
    }
    match &summary.facts {
        Some(facts) => complaints.extend(findings(file, facts)),
        None => complaints.push("the kernel sent no facts".into()),
    }
    for text in &file.expect_log {
        if !summary.last.log.contains(text) {
            complaints.push(format!("the boot log does not say: {text}"));
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n\n{}", complaints.join("\n"), framed(&summary.last.log)))
}

/// Warnings that are missing or too many.
fn findings(file: &MachineFile, facts: &Value) -> Option<String> {
    let all = facts["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let warnings = all.iter().filter(|finding| finding["severity"] == "warning");
    let made: BTreeSet<&str> = warnings.filter_map(|finding| finding["kind"].as_str()).collect();
    let expected = file.expect_findings.iter().map(String::as_str).collect();
    (made != expected).then(|| format!("findings: {made:?} made, {expected:?} expected"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Booted;
    use serde_json::json;

    fn summary(findings: Value) -> Summary {
        let last = Booted { log: "hello\n".into(), trouble: None };
        Summary { facts: Some(json!({"findings": findings})), last }
    }

    #[test]
    fn warnings_have_to_be_the_expected_ones_and_notes_may_come() {
        let note = json!({"kind": "slit-absent", "severity": "note"});
        let warning = json!({"kind": "srat-truncated", "severity": "warning"});
        let mut file = MachineFile::default();
        assert!(check(&file, &summary(json!([note]))).is_ok());
        assert!(check(&file, &summary(json!([note, warning]))).is_err());
        file.expect_findings = vec!["srat-truncated".into()];
        assert!(check(&file, &summary(json!([warning, warning]))).is_ok());
        assert!(check(&file, &summary(json!([note]))).is_err());
    }

    #[test]
    fn log_facts_and_exit_are_looked_at() {
        let file = MachineFile { expect_log: vec!["hello".into()], ..Default::default() };
        assert!(check(&file, &summary(json!([]))).is_ok());
        let silent = MachineFile { expect_log: vec!["bye".into()], ..Default::default() };
        assert!(check(&silent, &summary(json!([]))).is_err());
        assert!(check(&file, &Summary { facts: None, ..summary(json!([])) }).is_err());
        let mut failed = summary(json!([]));
        failed.last.trouble = Some("exit code 33".into());
        assert!(check(&file, &failed).is_err());
    }
}
