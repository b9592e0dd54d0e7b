# shellcheck shell=bash
# Brings a bare Debian 12 or Ubuntu 24.04 machine to work. Sourced by ./mtmc and ./test, which set $root (the checkout).
# Every step runs only when its stamp under build/ is missing or out of date, so a second start costs milliseconds.

stamps=$root/build
[[ -d $stamps/build-tools/bin ]] && PATH=$stamps/build-tools/bin:$PATH # cmake and ninja from wheels, see below

say() { printf 'mtmc: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}

# lock_setup python|build: one set-up of each at a time: a second process waits for the first and then finds everything done.
lock_setup() {
  mkdir -p "$stamps" 2>/dev/null || fail "setting up: cannot write to $root: wanted a checkout in a writable folder"
  exec 9>"$stamps/.lock-$1"
  flock 9
}
unlock_setup() { exec 9>&-; }

# A home that cannot be written to must not stop the store, nor the caches of pip, ccache, torch and Triton.
shelter_caches() {
  [[ -n ${HOME:-} && -w ${HOME:-} ]] && return
  export CCACHE_DIR=${CCACHE_DIR:-$stamps/ccache} PIP_NO_CACHE_DIR=${PIP_NO_CACHE_DIR:-1}
  export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$stamps/cache} TRITON_CACHE_DIR=${TRITON_CACHE_DIR:-$stamps/cache/triton}
  export MTMC_STORE=${MTMC_STORE:-$stamps/store.db}
}

# ---- system packages -------------------------------------------------------------------------------------------------

has_header() {
  printf '#include <%s>\n' "$1" |
    "${CXX:-g++}" -I"$root/.deps/include" -I"$root/.deps/include/$("${CXX:-g++}" -print-multiarch)" -E -x c++ - >/dev/null 2>&1
}
has_venv() { "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }
any_python() {
  local candidate
  for candidate in $(type -ap python3); do
    has_venv "$candidate" && echo "$candidate" && return
  done
  return 1
}

# The Debian packages that are missing: without `needed` we stop, for `wanted` we try once, `useful` only comes along.
missing_packages() {
  needed=() wanted=() useful=()
  command -v "${CXX:-g++}" >/dev/null || needed+=(g++)
  command -v cmake >/dev/null || needed+=(cmake)
  command -v ninja >/dev/null || command -v make >/dev/null || needed+=(ninja-build)
  [[ $want_python == no ]] || any_python >/dev/null || needed+=(python3 python3-venv)
  local pair
  for pair in fmt/format.h:libfmt-dev nlohmann/json.hpp:nlohmann-json3-dev CLI/CLI.hpp:libcli11-dev \
    sqlite3.h:libsqlite3-dev $1; do
    has_header "${pair%%:*}" || needed+=("${pair##*:}")
  done
  # Only language models need it: where it cannot be had we ask once, and go on without.
  [[ -f $stamps/.without-curl ]] || has_header curl/curl.h || wanted+=(libcurl4-openssl-dev)
  command -v ccache >/dev/null || useful+=(ccache)
  command -v bwrap >/dev/null || useful+=(bubblewrap)
  has_header mimalloc.h || useful+=(libmimalloc-dev)
}

apt_install() {
  say "installing system packages: $*"
  local log=$stamps/apt.log
  mkdir -p "$stamps"
  apt_get() { DEBIAN_FRONTEND=noninteractive flock "$stamps/.lock-apt" apt-get "$@" </dev/null >"$log" 2>&1; }
  apt_once() { apt_get install -y -qq --no-install-recommends "$@"; }
  apt_once "$@" && return
  apt_get update -qq && apt_once "$@" && return
  tail -n 5 "$log" >&2
  return 1
}

# What only mtmc-lm needs. (pcre2.h wants a macro before it.)
lm_headers="pcre2posix.h:libpcre2-dev utf8proc.h:libutf8proc-dev"

# ready_packages [HEADER:PACKAGE...]: the packages that everything needs, and those named.
ready_packages() {
  missing_packages "$*"
  [[ ${#needed[@]} == 0 && ${#wanted[@]} == 0 ]] && return # what is only useful comes along, and is never worth a wait without network
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    apt_install "${needed[@]}" "${wanted[@]}" "${useful[@]}" || apt_install "${needed[@]}" "${wanted[@]}" || true
    missing_packages "$*"
  else
    packages_without_root
    missing_packages "$*"
  fi
  [[ ${#needed[@]} == 0 ]] ||
    fail "setting up: system packages are missing: wanted  sudo apt-get install ${needed[*]} ${wanted[*]} ${useful[*]}"
  [[ ${#wanted[@]} == 0 ]] || { mkdir -p "$stamps" && touch "$stamps/.without-curl"; }
}

# Without root: libraries are unpacked into .deps, cmake and ninja come as wheels. A compiler must be there.
packages_without_root() {
  local package wheels=() libraries=()
  for package in "${needed[@]}" "${wanted[@]}"; do
    case $package in
      cmake) wheels+=(cmake) ;;
      ninja-build) wheels+=(ninja) ;;
      lib* | nlohmann*) libraries+=("$package") ;;
      *) return ;;
    esac
  done
  if [[ ${#libraries[@]} != 0 ]]; then
    say "unpacking into .deps: ${libraries[*]}"
    "$root/tools/fetch_deps" "${libraries[@]}" >&2 || return 0
  fi
  if [[ ${#wheels[@]} != 0 ]]; then
    say "installing wheels: ${wheels[*]}"
    "$(any_python)" -m venv "$stamps/build-tools" && "$stamps/build-tools/bin/pip" install -q "${wheels[@]}" || return 0
    PATH=$stamps/build-tools/bin:$PATH
  fi
}

# ---- Python with torch -----------------------------------------------------------------------------------------------

# Prints "EXECUTABLE<newline>FOLDER OF TORCH<newline>VERSION" of a Python with torch >= 2.9; else says why not and fails.
probe_torch() {
  "$1" - 2>/dev/null <<'PROBE'
import sys
sys.path[:] = filter(None, sys.path)  # not the folder of whoever calls us: what lies there may have any name
import importlib.metadata, importlib.util
if sys.version_info < (3, 10):
    sys.exit(1)
try:
    version = importlib.metadata.version("torch")
    folder = importlib.util.find_spec("torch").submodule_search_locations[0]
except Exception:
    sys.exit(1)
print(sys.executable, folder, version, sep="\n")
sys.exit(tuple(int(part) for part in version.split("+")[0].split(".")[:2]) < (2, 9))
PROBE
}

# use_python CANDIDATE: sets python and torch_folder, or fails.
use_python() {
  [[ -n $1 ]] && command -v "$1" >/dev/null || return 1
  local found
  found=$(probe_torch "$1") || return 1
  { read -r python && read -r torch_folder; } <<<"$found"
}

demand_python() {
  use_python "$1" && return
  command -v "$1" >/dev/null || fail "choosing a Python ($2): no such program: got '$1', wanted a Python with torch >= 2.9"
  local found
  found=$(probe_torch "$1" | tail -n 1) || true
  fail "choosing a Python ($2): no torch that is new enough: got ${found:+torch }${found:-$1, which has none}, wanted torch >= 2.9"
}

make_venv() {
  local base pip
  base=$(any_python) || fail "making .venv: no Python >= 3.10 with venv: wanted  sudo apt-get install python3 python3-venv"
  say "making .venv with $("$base" -V)"
  rm -rf "$root/.venv"
  "$base" -m venv "$root/.venv" || fail "making .venv: failed (see above)"
  pip=("$root/.venv/bin/python" -m pip install -q --disable-pip-version-check)
  if "${pip[@]}" --no-index --no-deps 'torch>=2.9' 2>/dev/null; then
    say "torch from a local wheel; fetching what it needs (about 40 MB)"
  elif command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    say "downloading torch with CUDA (about 3 GB)"
  else
    say "downloading torch (up to 3 GB; 200 MB when PIP_EXTRA_INDEX_URL names PyTorch's index of CPU wheels)"
  fi
  if ! "${pip[@]}" 'torch>=2.9' numpy >"$stamps/pip.log" 2>&1; then
    tail -n 5 "$stamps/pip.log" >&2
    fail "installing torch into .venv: pip failed (see above)"
  fi
}

# Sets $python: --python or $MTMC_PYTHON, else the active virtual environment, else python3, else our own .venv.
ready_python() {
  local wanted=$1 request known=$stamps/python old=""
  request="$wanted|${MTMC_PYTHON:-}|${VIRTUAL_ENV:-}|$(type -P python3 || true)"
  if [[ -f $known ]]; then
    { read -r old && read -r python && read -r torch_folder; } <"$known" || old=""
    [[ $old == "$request" && -x $python && -d $torch_folder ]] && return
  fi
  lock_setup python
  if [[ -n $wanted ]]; then
    demand_python "$wanted" --python
  elif [[ -n ${MTMC_PYTHON:-} ]]; then
    demand_python "$MTMC_PYTHON" MTMC_PYTHON
  elif ! use_python "${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python}" && ! use_python python3 &&
    ! use_python "$root/.venv/bin/python"; then
    want_python=yes ready_packages
    make_venv
    use_python "$root/.venv/bin/python" || fail "installing torch into .venv: torch cannot be found there"
  fi
  printf '%s\n' "$request" "$python" "$torch_folder" >"$known"
  unlock_setup
}

# Sets pip: that of $python, or one of our own that works for it.
find_pip() {
  pip=("$python" -m pip)
  "${pip[@]}" --version >/dev/null 2>&1 && return
  [[ -x $stamps/pip/bin/pip ]] || flock "$stamps/.lock-pip" "$(any_python)" -m venv "$stamps/pip"
  pip=("$stamps/pip/bin/pip" --python "$python")
}

# add_packages FOLDER WHY PACKAGE...: what this Python lacks of these, in build/FOLDER: never in the user's own environment. A
# package with a program has a folder of its own: pip replaces a folder's bin/ as a whole. MODULE:PACKAGE where their names
# differ. Without network we go on without.
add_packages() {
  local tools=$stamps/$1 why=$2 missing=() name module
  shift 2
  for name in "$@"; do
    module=${name%%:*} module=${module//[=.0-9]*/} name=${name##*:}
    PYTHONPATH=$tools${PYTHONPATH:+:$PYTHONPATH} "$python" -c "import sys; sys.path[:] = filter(None, sys.path); import importlib.util; sys.exit(not importlib.util.find_spec('$module'))" ||
      missing+=("${name//_/-}")
  done
  if [[ ${#missing[@]} != 0 ]]; then
    say "installing $why: ${missing[*]}"
    local pip
    find_pip
    "${pip[@]}" install -q --disable-pip-version-check --root-user-action ignore --upgrade --target "$tools" \
      "${missing[@]}" >"$stamps/packages.log" 2>&1 || {
      tail -n 3 "$stamps/packages.log" >&2
      say "not installed: ${missing[*]} (what needs them is skipped)"
    }
  fi
  export PYTHONPATH=$root/python:$tools${PYTHONPATH:+:$PYTHONPATH}
}

# ---- the build -------------------------------------------------------------------------------------------------------

# The C sources that src/source reads code with, in .deps (also for a machine without network: tools/fetch_deps). Where they
# cannot be had we ask once and go on without.
ready_grammars() {
  cmp -s "$root/tools/grammars.txt" "$root/.deps/tree-sitter/grammars.txt" && return
  cmp -s "$root/tools/grammars.txt" "$stamps/.without-tree-sitter" && return
  local pip
  say "fetching tree-sitter"
  find_pip
  PIP=$(printf '%s\n' "${pip[@]}") "$root/tools/fetch_deps" tree-sitter >/dev/null && return
  say "going on without tree-sitter: code that has no Program is one region (to try again: tools/fetch_deps tree-sitter)"
  cp "$root/tools/grammars.txt" "$stamps/.without-tree-sitter"
}

# ready_build NAME TARGET [-DOPTION...]: build/NAME holds TARGET, built from the sources as they are now. The target `all`
# (with the tests) always asks the build system; others only when a source is newer than the last build.
ready_build() {
  local folder=$stamps/$1 target=$2 stamp=$stamps/$1/.built-$2 built_in=""
  shift 2
  [[ -f $stamp ]] && read -r built_in <"$stamp"
  if [[ $target != all && $built_in == "$root $*" &&
    -z $(find "$root/src" "$root/cmake" "$root/CMakeLists.txt" "$root/tools/setup.sh" "$root/tools/grammars.txt" -newer "$stamp" -print -quit) ]]; then
    return
  fi
  lock_setup build
  want_python=no ready_packages
  ready_grammars
  # CMake keeps absolute paths: a checkout that has moved starts afresh.
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"
  fi
  mkdir -p "$folder"
  local log=$folder/build.log begun=$folder/.begun generator=()
  printf '%s\n' "$root $*" >"$begun" # its time is the build's: what is edited from now on is newer
  command -v ninja >/dev/null && [[ ! -f $folder/CMakeCache.txt ]] && generator=(-G Ninja)
  if ! cmake -S "$root" -B "$folder" "${generator[@]}" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    fail "configuring the build: CMake failed (see above)"
  fi
  [[ -f $stamp ]] || say "building $target in build/${folder##*/} (takes minutes the first time)"
  if ! run_build "$folder" "$target" "$log"; then
    tail -n 40 "$log" >&2
    fail "building $target: failed (the whole log: $log)"
  fi
  mv "$begun" "$stamp"
  unlock_setup
}

# The compiler's chatter goes to the log; a terminal sees a counter.
run_build() {
  local command=(cmake --build "$1" --target "$2" -j "$(nproc)")
  if [[ -t 2 ]]; then
    "${command[@]}" 2>&1 </dev/null | tee "$3" | sed -u -n 's/^\[\([0-9]*\/[0-9]*\|[ 0-9]*%\)\].*/\1/p' |
      while read -r count; do printf '\rmtmc: %s ' "$count" >&2; done
    local status=${PIPESTATUS[0]}
    printf '\r\033[K' >&2
    return "$status"
  fi
  "${command[@]}" >"$3" 2>&1 </dev/null
}
