#!/bin/sh
# Sees to a Chromium for `make page`: Debian's, installed where that is allowed, else named with its apt command.
set -eu

for program in chromium chromium-browser google-chrome; do
    command -v "$program" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "make: chromium is missing; install it with: apt-get install chromium" >&2
    exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
