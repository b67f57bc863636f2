//! Building a node map.

use super::{Inputs, NodeMap, Storage};
use crate::finding::Findings;

impl<'m> NodeMap<'m> {
    /// Builds the map. Never fails: what cannot be used is a finding, and one node with all
    /// memory is what remains.
    pub fn build(
        _inputs: &Inputs<'_>,
        _storage: Storage<'m>,
        _findings: &mut dyn Findings,
    ) -> NodeMap<'m> {
        todo!()
    }
}
