#!/bin/sh
# Check the archive that this lies in, and load its images into this host's Docker.
set -eu
cd "$(dirname "$0")"
refuse() {
  printf 'error: %s\n  fix: %s\n' "$1" "$2" >&2
  exit "$3"
}
[ "$(cat architecture)" = "$(uname -m)" ] || refuse \
  "the images are for $(cat architecture), this host is $(uname -m)" \
  "make the archive on a host like this one" 69
sha256sum --check --quiet SHA256SUMS || refuse \
  "a file is not as it was packed" "copy the archive here again" 1
docker info > /dev/null || refuse \
  "no Docker daemon answers" "start it (systemctl start docker), or join its group" 69
docker image load --input images.tar
echo "loaded; next: docker compose up --detach --wait (docs/ascend.md)"
