package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFunctionsAreCounted runs the script on functions of its own instead of Kubernetes'.
func TestFunctionsAreCounted(t *testing.T) {
	root, work := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"hack/lib/init.sh": "set -o errexit\nset -o nounset\n",
		"hack/lib/test.sh": `
for name in get_object_jsonpath_assert describe_object_assert describe_object_events_assert describe_resource_assert \
  describe_resource_events_assert describe_resource_chunk_size_assert if_has_not_string if_empty_string version::diff_assert; do
  eval "kube::test::$name() { :; }"
done
kube::test::object_assert() { [ "$2" = "$3" ]; }
kube::test::if_has_string() { [[ $1 == *$2* ]]; }
`,
		"test/cmd/core.sh": `
run_whole() {
  set -o errexit
  kube::test::if_has_string abc b
  output=$(false; echo c)
  kube::test::if_has_string "$output" c || true
  set +o errexit
  false
  set -o errexit
  set +o errexit
}
run_partial() {
  set -o errexit
  kube::test::if_has_string abc d
  kube::test::wait_object_assert it it it
  set +o errexit
}
run_broken() {
  set -o errexit
  kube::test::if_has_string abc a
  false
  kube::test::if_has_string abc b
}
run_ended() { kube::test::if_has_string abc a; exit 1; }
run_slow() { sleep 600; }
run_unchosen() { :; }
`,
		"test/cmd/legacy-script.sh": `
set -o errexit
source test/cmd/core.sh
runTests() {
  for name in whole partial broken ended slow unchosen; do
    record_command "run_$name"
  done
}
`,
		"kubectls/kubectl": "#!/bin/sh\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	results := filepath.Join(work, "results.tsv")
	cmd := exec.CommandContext(t.Context(), "bash", "-c", kubectlScript)
	cmd.Env = append(os.Environ(), "KUBE_ROOT="+root, "KUBECTLS="+filepath.Join(root, "kubectls"), "PORTS=1 2", "RESULTS="+results,
		"PATH="+filepath.Join(root, "kubectls")+":"+os.Getenv("PATH"), "LOGS="+filepath.Join(work, "logs"),
		"ONLY=^run_(whole|partial|broken|ended|slow)$", "LIMIT=2", "RESOURCES=pods", "CERTIFICATE="+filepath.Join(root, "test/cmd/core.sh"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 6 {
			t.Fatalf("%q", line)
		}
		got = append(got, strings.Join(append(fields[:4:4], fields[5]), " "))
	}
	want := []string{
		"run_whole 2 2 0 ", "run_partial 1 2 1 core.sh:14", "run_broken 2 2 1 core.sh:21",
		"run_ended 1 1 1 ended", "run_slow 0 0 2 ended not within 2 s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
