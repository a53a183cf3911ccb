#!/usr/bin/env bash
# Types and lint of the page's JavaScript. Node comes from apt where there is none; what npm installs isn't shipped.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
  install=(apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=600 nodejs npm)
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" "${install[@]}" || { "${as_root[@]}" apt-get update -q && "${as_root[@]}" "${install[@]}"; }
fi

npm ci --no-audit --no-fund --loglevel=error
npm run --silent check
