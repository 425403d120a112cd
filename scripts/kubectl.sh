#!/bin/sh
# A kubectl for the tests that read a cluster through one: where there is none, Debian's package, which needs root.
# Where that can't be, those tests are skipped; in CI (CI is set) they fail, and so does this.
set -u

if command -v "${KUBECTL_PATH:-kubectl}" >/dev/null 2>&1; then
	exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq && apt-get install -y -qq --no-install-recommends kubernetes-client >/dev/null
fi
if ! command -v kubectl >/dev/null 2>&1; then
	echo "no kubectl is on PATH: on Debian, apt-get install kubernetes-client; tests that need one are skipped" >&2
	test -z "${CI:-}"
fi
