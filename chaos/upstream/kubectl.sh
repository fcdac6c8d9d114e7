# Runs Kubernetes' shell tests of kubectl (test/cmd) against nodes that run already.
#
#   $KUBE_ROOT  the copied parts of Kubernetes' sources, where the tests also write files
#   $KUBECTLS   the folder of kubectl and kubectl-convert
#   $PORTS      the ports of the nodes, which take the tests in turn
#   $CERTIFICATE  a certificate of the server
#   $RESOURCES  what the tests ask for, and the server has
#   $RESULTS    the file for the results, a line each: function, assertions that held, assertions,
#               places that failed, seconds, and these places
#   $LOGS       the folder for what the functions print
#   $ONLY       a regular expression of functions
#   $LIMIT      seconds for each function
#
# The sources of the tests end a function at the first failure (errexit). Here that is switched off,
# so that all assertions count; a function is whole only if no command of it failed that would have
# ended it. Where the sources switch errexit off themselves, armed is 0.

export LANG=C TERM=${TERM:-dumb} KUBE_TEMP=$KUBE_ROOT/scratch
export HOME=$KUBE_TEMP TMPDIR=$KUBE_TEMP
mkdir -p "$HOME" "$LOGS"
# The tests of kubectl's configuration read the server's certificate there.
cp "$CERTIFICATE" "$TMPDIR/apiserver.crt"
cd "$KUBE_ROOT"
source hack/lib/init.sh
source hack/lib/test.sh
find test/cmd -name '*.sh' -not -name legacy-script.sh \
  -exec sed -i -E 's/^( *)set -o errexit$/\1armed=1/; s/^( *)set \+o errexit$/\1armed=0/; s/^( *)set [-+]o nounset$/\1:/' {} +
# The tests read THIS_PLATFORM_BIN for kubectl and its plugin.
THIS_PLATFORM_BIN=$KUBECTLS
source test/cmd/legacy-script.sh
trap - ERR EXIT
set +o errexit +o nounset +o pipefail

# counted NAME: NAME also counts whether it held. Each of these is one assertion of upstream.
counted() {
  eval "original_$(declare -f "$1")"
  eval "$1() { assertion original_$1 \"\$@\"; }"
}
assertion() {
  "$@"
  local status=$?
  echo "$status $(place)" >>"$ASSERTIONS"
  return $status
}

# place prints the file and the line of the tests that are being run.
place() {
  local level
  for ((level = 1; level < ${#BASH_SOURCE[@]}; level++)); do
    [[ ${BASH_SOURCE[level]} == *test/cmd/* ]] || continue
    echo "${BASH_SOURCE[level]##*/}:${BASH_LINENO[level - 1]}"
    return
  done
  echo elsewhere
}

for name in object_assert get_object_jsonpath_assert describe_object_assert describe_object_events_assert \
  describe_resource_assert describe_resource_events_assert describe_resource_chunk_size_assert \
  if_has_string if_has_not_string if_empty_string version::diff_assert; do
  counted "kube::test::$name"
done

# A server without controllers never gets to some states: three tries instead of ten.
kube::test::wait_object_assert() { kube::test::object_assert 3 "$@"; }

# failure notes that a command failed.
failure() { place >>"$FAILURES"; }

# record_command replaces the function of this name, which runTests calls for each function.
record_command() {
  local name=$1 log=$LOGS/$1 began=$SECONDS pid held all wrong
  [[ $name =~ $ONLY ]] || return 0
  ASSERTIONS=$LOGS/$name.assertions FAILURES=$LOGS/$name.failures
  : >"$ASSERTIONS" >"$FAILURES"
  next_node
  set -m
  (
    base=$BASH_SUBSHELL armed=0
    # It fires where errexit would have ended the function, also in command substitutions, which it
    # would not have ended.
    trap '[ $BASH_SUBSHELL -gt $base ] || [ $armed = 0 ] || failure' ERR
    set -o errtrace
    "$@"
    trap - ERR
    echo finished >>"$FAILURES"
  ) </dev/null >"$log" 2>&1 &
  pid=$!
  set +m
  while kill -0 $pid 2>/dev/null && ((SECONDS - began < LIMIT)); do sleep 0.1; done
  kill -KILL -- -$pid 2>/dev/null && ! grep -qx finished "$FAILURES" && echo "not within $LIMIT s" >>"$FAILURES"
  wait $pid 2>/dev/null
  grep -qx finished "$FAILURES" || echo ended >>"$FAILURES"
  held=$(grep -c '^0 ' "$ASSERTIONS")
  all=$(wc -l <"$ASSERTIONS")
  wrong=$(grep -vx finished "$FAILURES" | sort -u)
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$held" "$all" "$(grep -c . <<<"$wrong")" $((SECONDS - began)) \
    "$(paste -sd ' ' <<<"$wrong")" >>"$RESULTS"
}

# next_node points kubectl to the next node.
next_node() {
  local ports=($PORTS)
  turn=$(((${turn:--1} + 1) % ${#ports[@]}))
  SECURE_API_PORT=${ports[turn]}
  kube_flags=(-s "https://127.0.0.1:$SECURE_API_PORT" --insecure-skip-tls-verify)
  kube_flags_without_token=("${kube_flags[@]}")
  kube_flags_with_token=("${kube_flags[@]}" --token=admin-token)
  kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:$SECURE_API_PORT"
}

ALLOW_SKEW=1 CONTEXT=test WHAT=
SUPPORTED_RESOURCES=($RESOURCES)
rm -f "$HOME/.kube/config"
kubectl config set-credentials test-admin --token admin-token
kubectl config set-context "$CONTEXT" --user test-admin --cluster local
kubectl config use-context "$CONTEXT"
next_node
kubectl create -f - <<END
{"kind": "Node", "apiVersion": "v1",
 "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}},
 "status": {"capacity": {"memory": "1Gi"}}}
END
ASSERTIONS=$LOGS/outside.assertions
: >"$ASSERTIONS"
cleanup_tests() { :; }
runTests
