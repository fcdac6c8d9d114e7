package table_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/table"
	"quorate/apiserver/objects/validation"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is the time in all tests. Objects in them were created five minutes and thirty seconds
// before.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const created = "2026-01-02T02:58:35Z"

func catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	c, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rows returns the Rows of a kind.
func rows(t testing.TB, c *schema.Catalog, k *schema.Kind, version string, include table.Include) table.Rows {
	t.Helper()
	columns, err := table.New(k)
	if err != nil {
		t.Fatal(err)
	}
	partial := c.Unstored("meta.k8s.io/"+version, "PartialObjectMetadata")
	if partial == nil {
		t.Fatal("no kind PartialObjectMetadata in " + version)
	}
	return table.Rows{Table: columns, Partial: partial, Include: include}
}

// stored returns the stored form of an object, given as JSON.
func stored(t testing.TB, k *schema.Kind, object string) []byte {
	t.Helper()
	o, problems, err := k.Decode([]byte(object))
	if err != nil || len(problems.List()) > 0 {
		t.Fatalf("%v, %v: %s", err, problems.List(), object)
	}
	return o.AppendJSON(nil)
}

// cellsOf returns the cells of an object's row, decoded from JSON.
func cellsOf(t *testing.T, r table.Rows, value []byte) []any {
	t.Helper()
	text, err := r.AppendRow(nil, value, now)
	if err != nil {
		t.Fatal(err)
	}
	var row struct{ Cells []any }
	if err := json.Unmarshal(text, &row); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return row.Cells
}

// fullObjects is the folder of the objects that have every field.
const fullObjects = "../schema/testdata/golden/full"

// TestGolden compares the Table of a full object of each kind, including wide columns, with golden
// files.
func TestGolden(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for _, k := range c.Kinds() {
		if k.Storage() != k && !k.Converts() { // another version of a kind that is tested
			continue
		}
		name := strings.TrimSuffix(k.File, ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(fullObjects, name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = schema.YAMLToJSON(text, 1<<20); err != nil {
				t.Fatal(err)
			}
			r := rows(t, c, k, "v1", table.None)
			document, err := r.Append(r.AppendHead(nil, true), stored(t, k, string(text)), now)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", document)
		})
	}
}

func golden(t *testing.T, name string, document []byte) {
	t.Helper()
	got, err := schema.Indent(document)
	if err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
