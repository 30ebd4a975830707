#!/usr/bin/env bash
# systemd reads the unit that docs/service/deploy.md shows, and rates how much of the machine it can reach (0.0 to 10.0).
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk '/^```ini /{inside = 1; next} /^```/{inside = 0} inside' ../../../../docs/service/deploy.md >"$folder/tokenwell@.service"
if systemd-analyze verify "$folder/tokenwell@.service" 2>&1 | grep tokenwell@; then exit 1; fi
systemd-analyze security --offline=yes --threshold=15 --no-pager "$folder/tokenwell@.service"
