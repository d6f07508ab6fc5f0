#!/bin/sh
# Runs Hugging Face's own client against the loopback Hub: official.sh [FOLDER for its Python].
set -eu
venv=${1:-${TMPDIR:-/tmp}/hermes-sessions-hub}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet huggingface_hub==2.4.0
HUB_PYTHON=$venv/bin/python cargo test --locked --test cli official_client -- --ignored
