# Functions for the scripts of the catalog.

# build NAME PACKAGE MODULE@VERSION...: builds a program of a module into $BIN/NAME. Unlike go install,
# it also builds programs whose module replaces other modules.
build() {
  local name=$1 package=$2
  shift 2
  mkdir -p module && cd module
  [ -f go.mod ] || go mod init software >/dev/null 2>&1
  go get "$package" "$@" 2>&1 | sed '/^go: \(added\|downloading\|upgraded\)/d'
  go build -o "$BIN/$name" "$package"
  cd ..
}

# definitions VERSION PACKAGE...: makes CustomResourceDefinitions in $DIR/crds from the Go types of API
# packages, with the generator that their projects use. VERSION is that of their module.
definitions() {
  local version=$1 paths=()
  shift
  [ -x "$BIN/controller-gen" ] || go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
  mkdir -p module && cd module
  [ -f go.mod ] || go mod init software >/dev/null 2>&1
  for package in "$@"; do paths+=("paths=$package"); done
  go get "${@/%/@$version}"
  # go list finds packages of modules that the main module's packages import.
  { echo "package software"; for package in "$@"; do echo "import _ \"$package\""; done; } >software.go
  go mod tidy
  "$BIN/controller-gen" crd "${paths[@]}" "output:crd:dir=$DIR/crds"
  cd ..
  ls "$DIR/crds"
}

# eventually COMMAND...: runs a command until it succeeds, for a minute at most.
eventually() {
  local out deadline=$((SECONDS + 60))
  until out=$("$@" 2>&1); do
    if [ $SECONDS -gt $deadline ]; then
      echo "not within a minute: $*"
      echo "$out"
      return 1
    fi
    sleep 0.2
  done
}

# refused PATTERN COMMAND...: the command must fail, and print what matches.
refused() {
  local pattern=$1 out
  shift
  if out=$("$@" 2>&1); then
    echo "this should be refused: $*"
    echo "$out"
    return 1
  fi
  grep -E -e "$pattern" <<<"$out" >/dev/null && return
  echo "refused, but for another reason than $pattern: $out"
  return 1
}

# equal GOT WANT
equal() {
  [ "$1" = "$2" ] && return
  echo "got:  $1"
  echo "want: $2"
  return 1
}
