#!/usr/bin/env bash
# Moves v1 to the release v1.2.3 that is checked out.
set -euo pipefail

tag=${1:?usage: move-major-tag.sh vMAJOR.MINOR.PATCH}
[[ $tag =~ ^v([1-9][0-9]*)\.[0-9]+\.[0-9]+$ ]] || {
    echo "::error::$tag is not of the form v1.2.3; no tag was moved"
    exit 2
}
git tag --force "v${BASH_REMATCH[1]}" "$tag^{}"
git push --force origin "refs/tags/v${BASH_REMATCH[1]}"
