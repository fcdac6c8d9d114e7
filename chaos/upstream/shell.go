package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// kubectlSuite is the name of kubectl's shell tests in tables and expected.tsv.
	kubectlSuite = "kubectl"
	// functionSeconds bounds one function of the shell tests.
	functionSeconds = 180
	// kubectlTimeout bounds all of them.
	kubectlTimeout = 60 * time.Minute
)

// kubectlScript runs the functions, and says how it is called.
//
//go:embed kubectl.sh
var kubectlScript string

// resources are those that the tests ask for and the server has. Upstream leaves out the functions
// about others, if told so.
const resources = "clusterroles configmaps cronjobs customresourcedefinitions daemonsets deployments " +
	"horizontalpodautoscalers jobs metrics namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates " +
	"replicasets replicationcontrollers roles secrets selfsubjectreviews serviceaccounts services statefulsets storageclass subjectaccessreviews"

// parts are the folders of Kubernetes' sources that the shell tests read.
var parts = []string{"hack", "test/cmd", "test/fixtures", "test/e2e", "third_party/forked"}

// kubectl runs the shell tests of kubectl.
func (r runner) kubectl(ctx context.Context) (tests []test, err error) {
	work := filepath.Join(r.work, kubectlSuite)
	sources := filepath.Join(work, "sources")
	for _, part := range parts {
		if err := copyTree(filepath.Join(r.sources, part), filepath.Join(sources, part)); err != nil {
			return nil, err
		}
	}
	// An empty folder of the sources, which modules don't have.
	if err := os.MkdirAll(filepath.Join(sources, "test/fixtures/pkg/kubectl/plugins/empty"), 0o755); err != nil {
		return nil, err
	}
	if tests, err = r.functions(sources); err != nil {
		return nil, err
	}
	tokens := filepath.Join(sources, "hack/testdata/auth-tokens.csv")
	if err := os.Chmod(tokens, 0o600); err != nil {
		return nil, err
	}
	fleet, err := r.start(ctx, r.server, kubectlSuite, "--token-file", tokens)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.Close(context.WithoutCancel(ctx))) }()
	beside := r.beside(ctx, work)
	defer func() { err = errors.Join(err, beside.end()) }()
	beside.controllers(fleet)
	var ports []string
	for _, node := range fleet.Nodes() {
		address, err := url.Parse(node.API)
		if err != nil {
			return nil, err
		}
		ports = append(ports, address.Port())
	}
	results := filepath.Join(work, "results.tsv")
	env := []string{
		"KUBE_ROOT=" + sources, "KUBECTLS=" + r.bin, "PORTS=" + strings.Join(ports, " "), "RESULTS=" + results,
		"LOGS=" + filepath.Join(work, "logs"), "ONLY=" + alternatives(tests), "LIMIT=" + strconv.Itoa(functionSeconds),
		"RESOURCES=" + resources, "CERTIFICATE=" + filepath.Join(fleet.DataDir(fleet.Nodes()[0].Name), "ca.crt"),
	}
	ended := r.execute(ctx, kubectlTimeout, filepath.Join(work, "run.log"), env, "bash", "-c", kubectlScript)
	text, err := os.ReadFile(results)
	return tests, errors.Join(ended, err, readCounts(tests, string(text)))
}

// functions returns the functions of the shell tests that -only chooses, in their order.
func (r runner) functions(sources string) (tests []test, err error) {
	text, err := os.ReadFile(filepath.Join(sources, "test/cmd/legacy-script.sh"))
	if err != nil {
		return nil, err
	}
	for _, found := range regexp.MustCompile(`(?m)^ *record_command (run_\w+)`).FindAllStringSubmatch(string(text), -1) {
		name := found[1]
		known := func(t test) bool { return t.Name == name }
		if r.only.MatchString(name) && !slices.ContainsFunc(tests, known) {
			tests = append(tests, test{
				Suite: kubectlSuite, Area: "test/cmd", Name: name, expected: r.expected[[2]string{kubectlSuite, name}],
			})
		}
	}
	return tests, nil
}

// alternatives returns a regular expression of the names of the tests that run.
func alternatives(tests []test) string {
	var names []string
	for _, t := range tests {
		if t.expected.what != notRun {
			names = append(names, t.Name)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// readCounts reads what the script wrote about each function.
func readCounts(tests []test, text string) error {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		at := slices.IndexFunc(tests, func(t test) bool { return t.Name == fields[0] })
		if len(fields) != 6 || at < 0 {
			return fmt.Errorf("this is no result of a function: %q", line)
		}
		var counts [4]int
		for i := range counts {
			n, err := strconv.Atoi(fields[1+i])
			if err != nil {
				return fmt.Errorf("this is no result of a function: %q", line)
			}
			counts[i] = n
		}
		t := &tests[at]
		t.Held, t.Assertions, t.Seconds = counts[0], counts[1], float64(counts[3])
		t.Passed, t.Message = counts[2] == 0, fields[5]
	}
	for i := range tests {
		if t := &tests[i]; t.expected.what != notRun && !t.Passed && t.Message == "" && t.Assertions == 0 {
			t.Message = "no assertion held or failed"
		}
	}
	return nil
}

// copyTree copies a folder of the module cache, so that its files can be written.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o755)
	})
}
