#!/usr/bin/env bash
# Fills the corpus directories from tests/data; what fuzzing found by itself there stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo run --locked -q -p nearmem-tests --example seeds
