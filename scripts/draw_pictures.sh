#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws docs/images/smooth.png and cl.png again, which README.md and docs/tutorial.md show: runs
# examples/first_session.sh, which has the commands of README.md, and stores its pictures with 256 colours, a third of
# the bytes. Needs Pillow for Python (python3-pil).
#   scripts/draw_pictures.sh [PROGRAM]      default build/release/src/app/ringweave
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${1:-$here/build/release/src/app/ringweave}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
RINGWEAVE=$program "$here/examples/first_session.sh"
for picture in smooth.png cl.png; do
  python3 - "$picture" "$here/docs/images/$picture" <<'END'
import sys
from PIL import Image
Image.open(sys.argv[1]).quantize(256).save(sys.argv[2], optimize=True)
END
done
