#!/bin/sh
# What the tests of pages need beside Python: Chromium, from the system's packages, and from the npm registry axe-core,
# html-validate, and what checks the script of the pages, in the versions of scripts/browser_tools. What is there is
# left alone. Usage: scripts/browser.sh FOLDER, which gets node_modules.
set -eu
folder=$1
tools=$(dirname "$0")/browser_tools

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

if ! cmp -s "$tools/package-lock.json" "$folder/package-lock.json" || ! test -d "$folder/node_modules"; then
	command -v npm >/dev/null || install npm npm
	mkdir -p "$folder"
	cp "$tools/package.json" "$tools/package-lock.json" "$folder"
	npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null || {
		rm -f "$folder/package-lock.json"
		fail "npm can't install what $tools/package.json names"
	}
fi
