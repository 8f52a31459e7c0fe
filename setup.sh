# shellcheck shell=bash disable=SC2153,SC2154 # variables of ./imprint and versions.env
# Installs and builds what ./imprint needs; sourced by it, and only when something is missing.
# Each step says in one line what it is doing and writes the rest to .imprint/log/STEP.log.

# set_up MODE: run, test, bench or tensorboard.
set_up() {
  # pip and ninja turn the signal into an ordinary failure
  trap 'say "interrupted; the same command goes on from here" && exit 130' INT
  mkdir -p "$state"/{log,share}
  [[ -w $state ]] || die "cannot write to $state; use a clone of your own"
  lock
  install_packages "$1"
  install_python_parts "$1"
  if [[ $1 != tensorboard ]]; then
    configure "$1"
    compile "$1"
  fi
  exec 9>&-
  trap - INT
}

# One set-up at a time, for as long as file descriptor 9 stays open.
lock() {
  exec 9>"$state/lock"
  command -v flock >/dev/null || return 0
  flock -n 9 && return
  say "waiting for another ./imprint that is installing or building..."
  flock 9
}

# step NAME MESSAGE TRY COMMAND...: runs the command; if it fails, says why and what to try, and ends.
step() {
  local log=$state/log/$1.log message=$2 try=$3
  shift 3
  say "$message..."
  if "$@" 2>&1 9>&- | keep_log "$log"; then return; fi
  rm -f "$state/unfinished"
  tail -n 12 "$log" | sed 's/^/    /' >&2
  say "failed: $(reason "$log" | tr -s '\n' ' ')"
  say "the whole log is $log"
  die "to try by hand: $try"
}

# Copies its input to a file; on a terminal, shows how far ninja is.
keep_log() {
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line" >&3
    if [[ -t 2 && $line =~ ^\[[0-9]+/[0-9]+\] ]]; then printf '\r%s ' "${BASH_REMATCH[0]}" >&2; fi
  done 3>"$1"
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# The line of a log that says what went wrong: of cmake and the compiler the first, of apt and pip the last.
reason() {
  grep -m1 -A3 'CMake Error' "$1" | tr -s ' \n' ' ' ||
    grep -m1 -E ' error: |undefined reference' "$1" ||
    grep -E '^(E|ERROR): ' "$1" | tail -n 1 ||
    tail -n 1 "$1"
  # pip calls a package that it could not ask for one that does not exist
  tail -n 12 "$1" | grep -m1 -oE 'connection broken by .*' || true
}

install_packages() {
  local missing sudo='' line
  missing=$(missing_packages "$1")
  command -v apt-get >/dev/null || name_packages
  [[ -n $missing ]] || return 0
  line="apt-get install --no-install-recommends -y ${missing% }"
  if [[ $EUID -ne 0 ]]; then
    sudo='sudo '
    can_use_sudo || refuse_packages "$line"
  fi
  printf '%s\n' "$sudo$line" >&2
  step packages "installing distribution packages (1 to 3 minutes)" "${sudo}apt-get update; $sudo$line" \
    apt_install "$sudo" "$line"
}

can_use_sudo() { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 && -t 2 ]]; }; }

refuse_packages() {
  say "distribution packages are missing, and only root can install them. Type this as root, then start again:"
  printf '  %s\n' "$1" >&2
  die "or, where the same software comes from elsewhere, set IMPRINT_APT=no"
}

# Elsewhere than on Debian and its kin nothing can be looked up: say once what is needed, and try.
name_packages() {
  [[ -e $venv ]] && return
  # shellcheck disable=SC2086 # a list of words
  say "no apt here, so going on with what is installed. Needed: a C++$CXX_STANDARD compiler," \
    "CMake $CMAKE_MINIMUM, Python $PYTHON_MINIMUM, and what Debian calls" $APT_BUILD
}

# apt_install SUDO LINE; lists of packages that are absent or out of date show as a failure to install.
apt_install() {
  local as_root="$1 env DEBIAN_FRONTEND=noninteractive"
  # shellcheck disable=SC2086 # lists of words
  $as_root $2 || { $as_root apt-get update && $as_root $2; }
}

install_python_parts() {
  if [[ -e $state/unfinished ]]; then
    say "the last set-up was interrupted; starting it again"
    rm -rf "$venv"
  fi
  create_venv
  if [[ $1 != tensorboard ]]; then
    [[ -n $user_torch ]] ||
      part libtorch "torch==$TORCH" "installing LibTorch $TORCH into .imprint (1 to 3 minutes)" install_libtorch
    [[ -e $bundle ]] || rm -f "$venv/done/charts"
    part charts "vl-convert-python==$VL_CONVERT" "installing the charts of the report" install_charts
  fi
  if [[ $1 != run ]]; then
    part tensorboard "tensorboard==$TENSORBOARD" "installing TensorBoard $TENSORBOARD" pip_install
  fi
  if [[ $1 == test || $1 == bench ]]; then
    part numpy "numpy==$NUMPY" "installing NumPy $NUMPY" pip_install
    [[ -n $user_torch ]] || part pytorch "torch==$TORCH" "installing what PyTorch needs in Python" pip_install
  fi
}

# Debian's venv module belongs to Debian's Python, whatever python3 comes first in PATH.
create_venv() {
  local python=python3
  "$venv/bin/python" -m pip --version &>/dev/null && return
  if [[ ${IMPRINT_APT:-} != no ]] && command -v apt-get >/dev/null; then python=/usr/bin/python3; fi
  rm -rf "$venv"
  touch "$state/unfinished"
  step venv "creating a Python environment in .imprint" "$python -m venv '$venv'" "$python" -m venv "$venv"
  rm "$state/unfinished"
}

# part NAME REQUIREMENT MESSAGE COMMAND: calls COMMAND REQUIREMENT, once, to add to the Python environment.
# When it is killed half-way, the file `unfinished` stays behind.
part() {
  is_done "$1" "$2" && return
  touch "$state/unfinished"
  step "$1" "$3" "'$venv/bin/python' -m pip install '$2'" "$4" "$2"
  mkdir -p "$venv/done"
  echo "$2" >"$venv/done/$1"
  rm "$state/unfinished"
}

pip_install() {
  PIP_USER=0 "$venv/bin/python" -m pip install --no-compile --no-input --progress-bar off --disable-pip-version-check "$@"
}

# A CPU build where pip knows one, then PyTorch's own index of CPU builds, then whatever the release is here.
# LibTorch is only the headers and shared libraries: nothing that the wheel needs in Python.
install_libtorch() {
  pip_install --no-deps "$1+cpu" ||
    pip_install --no-deps --index-url https://download.pytorch.org/whl/cpu "$1+cpu" ||
    pip_install --no-deps "$1"
}

install_charts() {
  pip_install "$1" &&
    "$venv/bin/python" -X utf8 -c 'import vl_convert; print(vl_convert.javascript_bundle())' >"$bundle.part" &&
    mv "$bundle.part" "$bundle"
}

# Tests and benchmarks once configured stay so: `run` after `test` does not configure again.
configure() {
  local cache=$build/CMakeCache.txt torch options wanted=''
  case $1 in
    test) wanted=IMPRINT_TESTS:BOOL=ON ;;
    bench) wanted=IMPRINT_BENCHMARKS:BOOL=ON ;;
  esac
  torch=$(torch_dir)
  options=(--preset "$preset" "-DCMAKE_PREFIX_PATH=$torch" "-DTorch_DIR=$torch/share/cmake/Torch" ${wanted:+"-D$wanted"})
  if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$home" "$cache" || ! grep -qF "=$torch/share/cmake/Torch" "$cache"; then
    options+=(--fresh) # another LibTorch, or a folder that was moved: nothing of an older build can stay
  elif [[ -e $build/build.ninja ]] && grep -qx "$wanted.*" "$cache"; then
    return
  fi
  step configure "configuring build/$preset" "cd '$home' && cmake ${options[*]@Q}" run_cmake "${options[@]}"
}

run_cmake() { (cd "$home" && cmake "$@"); }

compile() {
  local target=imprint message="building what changed"
  if [[ $1 == run ]] && program_is_current; then return; fi
  if [[ $1 != run ]]; then
    target=all message="building Imprint and its ${1/bench/benchmark}s"
  elif [[ ! -e $program ]]; then
    message="building Imprint (about five minutes on two cores, once)"
  fi
  torch_dir >"$build/.building" # as old as the start of the build, so that later edits are newer
  step build "$message" "cmake --build '$build' --target $target" \
    cmake --build "$build" --target "$target" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(compilers)}"
  mv "$build/.building" "$build/.built"
}

# One compiler per core, but no more than one per 2 GB of free memory.
compilers() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 2e6) }' /proc/meminfo)
  if ((memory < 1)); then memory=1; fi
  echo $((memory < cores ? memory : cores))
}
