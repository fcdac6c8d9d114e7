package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

// TestEveryMetricIsDescribed: each name of a metric in the code is on the page.
func TestEveryMetricIsDescribed(t *testing.T) {
	t.Parallel()
	page, err := metricsPage(root)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`"(quorate_[a-z0-9_]+)"`)
	for _, folder := range []string{"apiserver", "cluster", "cmd/quorate", "raftstore"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "metrics.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range name.FindAllSubmatch(text, -1) {
				if !strings.Contains(string(page), "| `"+string(m[1])+"` | ") {
					t.Errorf("%s: the page does not have %s", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"| `quorate_apiserver_fairness_wait_seconds` | histogram | level | ",   // a vector
		"| `quorate_apiserver_fairness_seats_in_use` | gauge | level | ",       // a function with constant labels in a variable
		"| `quorate_build_info` | gauge | version, commit | ",                  // with constant labels
		"| `quorate_cluster_member_alive` | gauge | member | 1 if this node",   // a collector of its own
		"| `quorate_apiserver_file_reloads_total` | counter | file, result | ", // with a help in parts
		"(tokens, audit-policy, fairness) and result: a refused version changes nothing. |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// TestFlagsPage: flags of serve have their variables, and defaults of this machine are left out.
func TestFlagsPage(t *testing.T) {
	t.Parallel()
	page := string(flagsPage())
	for _, want := range []string{
		"## quorate token create", "| `--log-bytes` | `QUORATE_LOG_BYTES` | `4GiB` |", "| `--name` | `QUORATE_NAME` |  |",
		"| `-o, --output` | `table` |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// TestAPIPages: a kind has its path, its verbs and its fields with their types and constraints.
func TestAPIPages(t *testing.T) {
	t.Parallel()
	pages, err := apiPages()
	if err != nil {
		t.Fatal(err)
	}
	for page, wants := range map[string][]string{
		"api/README.md": {
			"| [Deployment](apps.md#deployment-v1) | `/apis/apps/v1/namespaces/NAMESPACE/deployments` | deploy | all | scale, status |",
			"| [TokenReview](authentication.k8s.io.md#tokenreview-v1) | `/apis/authentication.k8s.io/v1/tokenreviews` |  | create |  |",
		},
		"api/core.md": {
			"- Field selectors: `metadata.name metadata.namespace spec.nodeName", "| `data` | map&lt;string,string&gt; |",
			"[ObjectMeta](types.md#objectmeta)",
		},
		"api/types.md": {"### PodSpec", "| `containers` | list&lt;[Container](#container)&gt; |", "Required."},
	} {
		for _, want := range wants {
			if !strings.Contains(string(pages[page]), want) {
				t.Errorf("%s does not have %q", page, want)
			}
		}
	}
}

// TestStalePagesAreNamed: a page that differs, is missing or is superfluous is an error.
func TestStalePagesAreNamed(t *testing.T) {
	t.Parallel()
	docs := t.TempDir()
	if err := os.Mkdir(filepath.Join(docs, apiFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"same.md": "1", "changed.md": "1", "api/gone.md": "1"} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err := compare(docs, map[string][]byte{"same.md": []byte("1"), "changed.md": []byte("2"), "new.md": []byte("1")})
	if want := "docs/changed.md, docs/new.md, docs/api/gone.md: not what the code gives"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
