#!/bin/sh
# What the tests of pages need beside Python: Chromium, from the system's packages, and axe-core, from the npm registry.
# Both are left alone if they are there. Usage: scripts/browser.sh FOLDER, which gets axe-core.
set -eu
folder=$1
axe=4.14.1

fail() {
	echo "make browser: $1" >&2
	exit 1
}

install() { # what it is for, the Debian packages
	wanted=$1
	shift
	command -v apt-get >/dev/null || fail "$wanted is not installed, and there is no apt-get to install it with"
	test "$(id -u)" = 0 || fail "$wanted is not installed: as root, apt-get install $*"
	apt-get update -qq >/dev/null || fail "apt-get update failed, and $wanted is not installed"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
		fail "apt-get can't install $wanted ($*)"
}

command -v chromium >/dev/null || install chromium chromium fonts-dejavu-core
command -v chromium >/dev/null || fail "there is no chromium, although its package is installed"

if ! test -f "$folder/node_modules/axe-core/axe.min.js"; then
	command -v npm >/dev/null || install npm npm
	mkdir -p "$folder"
	npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "axe-core@$axe" >/dev/null ||
		fail "npm can't install axe-core $axe"
fi
