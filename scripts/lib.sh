# shellcheck shell=bash disable=SC2034 # much of this is read by the scripts that source it
# Shared by the scripts here: sourced, never run. Every message goes to stderr, one line a step.
set -euo pipefail

top=$(cd -P "${BASH_SOURCE[0]%/*}/.." && pwd)
cache=${RDMALAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rdmalab}
state=/var/cache/rdmalab # what is true of this machine: installed packages, apt's private roots
kernel_suite=trixie-backports
debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
export DEBIAN_FRONTEND=noninteractive
# A mirror that can't be reached is an error, soon, and not a warning; another apt that is running is waited for.
apt_options=(-qq -o APT::Update::Error-Mode=any -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=600)

step() { printf 'rdmalab: %s\n' "$*" >&2; }

# cannot WHAT REMEDY: this environment can't do it (exit status 3, as of rdmalab itself).
cannot() {
  printf 'rdmalab: %s\n  hint: %s\n' "$1" "$2" >&2
  exit 3
}

# quietly COMMAND ARG...: runs it; its output appears only if it fails, and then its last lines.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then tail -n 40 "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

# What differs between machines, as data: Debian's architecture, its QEMU package and program, its kernel flavour.
machine_table='
amd64 qemu-system-x86 qemu-system-x86_64  amd64
arm64 qemu-system-arm qemu-system-aarch64 arm64
'

# read_machine: sets deb_arch, qemu_package, qemu_program, kernel_flavour, release (12, 13 …) and codename.
read_machine() {
  # shellcheck disable=SC1091
  if [ -r /etc/os-release ]; then read -r os release codename < <(. /etc/os-release && echo "${ID:-} ${VERSION_ID:-0} ${VERSION_CODENAME:-}"); fi
  if [ "${os:-}" != debian ] || [ "${release%%.*}" -lt 12 ]; then
    cannot "this is not Debian 12 or later, which the scripts are made for" \
      "use a Debian 12 or 13 container, or install the packages of scripts/packages/build.txt by hand and build with CMake"
  fi
  deb_arch=$(dpkg --print-architecture)
  local row
  row=$(awk -v arch="$deb_arch" '$1 == arch' <<<"$machine_table")
  if [ -z "$row" ]; then cannot "no guest is known for the architecture $deb_arch" "use one of:$(awk '{printf " %s", $1}' <<<"$machine_table")"; fi
  read -r _ qemu_package qemu_program kernel_flavour <<<"$row"
}

need_root() {
  if [ "$(id -u)" -ne 0 ]; then cannot "root is needed to $1" "run it as root: sudo $0"; fi
}

# find_mirror: sets mirror, the address that this machine's own apt uses for Debian, however its sources are written.
find_mirror() {
  # shellcheck disable=SC2016 # apt's own placeholders
  mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
    awk -v codename="$codename" '$1 == codename || $1 == "stable" || $1 == "oldstable" { print $2; exit }')
  if [ -z "$mirror" ]; then
    cannot "apt on this machine names no mirror for Debian $codename" "add one to /etc/apt/sources.list.d and try again"
  fi
  if [ ! -r "$debian_keyring" ]; then cannot "Debian's keyring is not installed" "apt-get install debian-archive-keyring"; fi
}

# private_apt SUITES PROGRAM ARG...: apt-get or apt-cache that knows SUITES (one word or more) and nothing else, with lists
# and caches of its own (after find_mirror), so that the machine's apt never sees a foreign suite. Signatures are checked by Debian's keyring.
private_apt() {
  local root=$state/apt/${1##* } suite
  if [ "$(id -u)" -ne 0 ]; then root=$cache/apt/${1##* }; fi
  mkdir -p "$root"/{lists,cache/archives}/partial "$root/none"
  for suite in $1; do printf 'deb [signed-by=%s] %s %s main\n' "$debian_keyring" "$mirror" "$suite"; done >"$root/sources.list"
  "$2" -o Dir::Etc::sourcelist="$root/sources.list" -o Dir::Etc::sourceparts="$root/none" \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts="$root/none" \
    -o Dir::State::lists="$root/lists" -o Dir::Cache="$root/cache" "${apt_options[@]}" "${@:3}"
}

# locked FILE: holds an exclusive lock on FILE until this shell ends.
locked() {
  if ! mkdir -p "${1%/*}" 2>/dev/null || [ ! -w "${1%/*}" ]; then
    cannot "${1%/*} can't be written" "set RDMALAB_CACHE to a folder of yours, or run as root"
  fi
  exec {lock_fd}>"$1"
  if ! flock -n "$lock_fd"; then
    step "waiting for another run to finish (${1##*/})"
    flock "$lock_fd"
  fi
}
