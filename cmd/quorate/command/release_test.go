package command_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestFormerReleases runs testdata/release/*.txtar once for each folder of testdata/releases, which
// has the data directory and the backup of an earlier build.
func TestFormerReleases(t *testing.T) {
	t.Parallel()
	releases, err := filepath.Glob("testdata/releases/*/data.tar.gz")
	if err != nil || len(releases) == 0 {
		t.Fatal("no release found: ", err)
	}
	for _, data := range releases {
		release, err := filepath.Abs(filepath.Dir(data))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(release), func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/release",
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("RELEASE", release)
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"unpack": unpack, "holds": holds, "replays": replays, "signal": signal,
				},
			})
		})
	}
}

// written describes the contents of a release's data directory and backup.
type written struct {
	// Objects has the response to a GET of each path.
	Objects map[string]map[string]any `json:"objects"`
	// Since is a version before the last writes. Events are the changes of the ConfigMaps in the
	// namespace shop after it.
	Since  string           `json:"since"`
	Events []map[string]any `json:"events"`
}

func readWritten(ts *testscript.TestScript, file string) written {
	var w written
	text := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	text.UseNumber()
	ts.Check(text.Decode(&w))
	if len(w.Objects) == 0 || len(w.Events) == 0 {
		ts.Fatalf("%s names no objects or no events", file)
	}
	return w
}

// unpack FILE DIR extracts a compressed archive of regular files.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unpack FILE DIR")
	}
	file, err := os.Open(args[0])
	ts.Check(err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	ts.Check(err)
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		ts.Check(err)
		if !filepath.IsLocal(header.Name) {
			ts.Fatalf("%s holds %q", args[0], header.Name)
		}
		path := filepath.Join(ts.MkAbs(args[1]), header.Name)
		if header.Typeflag == tar.TypeDir {
			ts.Check(os.MkdirAll(path, header.FileInfo().Mode().Perm()))
			continue
		}
		content, err := io.ReadAll(archive)
		ts.Check(err)
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o700)) // an archive need not name its folders
		ts.Check(os.WriteFile(path, content, header.FileInfo().Mode().Perm()))
	}
}

// holds requires the node whose data directory is DIR to serve every object in the file EXPECTED,
// field by field. With raised, the objects' versions may differ, because a restored cluster raises
// them.
//
//	holds DIR EXPECTED [raised]
func holds(ts *testscript.TestScript, neg bool, args []string) {
	raised := len(args) == 3 && args[2] == "raised"
	if neg || len(args) != 2 && !raised {
		ts.Fatalf("usage: holds DIR EXPECTED [raised]")
	}
	for path, want := range readWritten(ts, args[1]).Objects {
		resp := request(ts, args[0], path)
		got := decode(ts, json.NewDecoder(resp.Body))
		resp.Body.Close()
		if raised {
			dropVersion(got)
			dropVersion(want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			ts.Fatalf("%s differs (-before +now):\n%s", path, diff)
		}
	}
}

// decode reads the next value of the stream and keeps numbers as they are written.
func decode(ts *testscript.TestScript, stream *json.Decoder) (value map[string]any) {
	stream.UseNumber()
	ts.Check(stream.Decode(&value))
	return value
}

func dropVersion(object map[string]any) {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
	}
}

// replays DIR EXPECTED requires a watch from the version in the file EXPECTED to send the events in
// that file.
func replays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: replays DIR EXPECTED")
	}
	want := readWritten(ts, args[1])
	resp := request(ts, args[0], "/api/v1/namespaces/shop/configmaps?watch=true&resourceVersion="+want.Since)
	defer resp.Body.Close()
	stream := json.NewDecoder(resp.Body)
	for i, event := range want.Events {
		got := decode(ts, stream)
		if diff := cmp.Diff(event, got); diff != "" {
			ts.Fatalf("event %d differs (-before +now):\n%s", i, diff)
		}
	}
}
