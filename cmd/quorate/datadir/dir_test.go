package datadir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/cluster/keys"
	"quorate/cmd/quorate/datadir"
)

func config(path string) datadir.Config {
	return datadir.Config{Path: path, Name: "n1", Found: true}
}

func open(t *testing.T, cfg datadir.Config) *datadir.Dir {
	t.Helper()
	d, err := datadir.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wantRefused(t *testing.T, cfg datadir.Config, part string) {
	t.Helper()
	d, err := datadir.Open(cfg)
	if err == nil {
		d.Close()
		t.Fatalf("accepted, want %q", part)
	}
	if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got  %q\nwant %q in one line", err, part)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "data")
	d := open(t, config(path))
	if !d.GeneratedKey || d.NodeID() == "" {
		t.Errorf("first start: generated %t, id %q", d.GeneratedKey, d.NodeID())
	}
	wantRefused(t, config(path), "in use by another quorate process")
	id := d.NodeID()
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	again := open(t, config(path))
	if again.GeneratedKey || again.Key().Text() != d.Key().Text() || again.NodeID() != id {
		t.Errorf("second start changed the identity: generated %t, id %q, want %q", again.GeneratedKey, again.NodeID(), id)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cluster.key", "node-id", "identity.json", "lock"} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		file   string // changed in a directory made by an earlier start
		text   string // new content, empty: removed
		change func(*datadir.Config)
		want   string
	}{
		{name: "another name", change: func(c *datadir.Config) { c.Name = "n2" }, want: `belongs to the node "n1", not "n2": give --name n1`},
		{name: "another key", change: func(c *datadir.Config) { c.Key = keys.Generate() }, want: "is not the one that --data-dir"},
		{name: "a malformed key", file: "cluster.key", text: "x", want: "cluster.key: cluster key is not base64"},
		{name: "a newer format", file: "identity.json", text: `{"format":9,"name":"n1","keyFingerprint":""}`, want: "has format 9 and this build knows up to 2"},
		{name: "a damaged identity", file: "identity.json", text: "{", want: "identity.json is damaged"},
		{name: "a damaged node id", file: "node-id", text: "?", want: "node-id is damaged"},
		{name: "an edited key", file: "cluster.key", text: keys.Generate().Text(), want: "is not the one that --data-dir"},
		{name: "an empty key", file: "cluster.key", text: " \n", want: "cluster key is empty"},
		{name: "a lost key", file: "cluster.key", want: "cluster.key is gone"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t.TempDir())
			d := open(t, cfg)
			if err := errors.Join(d.Commit(), d.Close()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(cfg.Path, c.file)
			switch {
			case c.text != "":
				if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			case c.file != "":
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			if c.change != nil {
				c.change(&cfg)
			}
			wantRefused(t, cfg, c.want)
		})
	}
}

// A directory of an older format gets the present one when it is opened, so that an older build refuses
// it from then on.
func TestOpenUpgradesTheFormat(t *testing.T) {
	t.Parallel()
	cfg := config(t.TempDir())
	d := open(t, cfg)
	if err := errors.Join(d.Commit(), d.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(cfg.Path, "identity.json")
	present, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	former := strings.Replace(string(present), `"format":2`, `"format":1`, 1)
	if err := os.WriteFile(file, []byte(former), 0o600); err != nil || former == string(present) {
		t.Fatalf("%s: %v", present, err)
	}
	if err := open(t, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(present) {
		t.Errorf("the identity is %s, want %s (%v)", got, present, err)
	}
}

func TestUncommittedDirectoryAcceptsAnotherKey(t *testing.T) {
	t.Parallel()
	cfg := config(t.TempDir())
	cfg.Key = keys.Generate()
	if err := open(t, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Name, cfg.Key = "n2", keys.Generate()
	d := open(t, cfg)
	defer d.Close()
	if d.Key() != cfg.Key {
		t.Error("kept the first key")
	}
}

func TestJoinerNeedsTheKey(t *testing.T) {
	t.Parallel()
	cfg := config(t.TempDir())
	cfg.Found = false
	wantRefused(t, cfg, "joining a cluster needs its key")
	cfg.Key = keys.Generate()
	d := open(t, cfg)
	defer d.Close()
	stored, err := os.ReadFile(filepath.Join(cfg.Path, "cluster.key"))
	if err != nil || string(stored) != cfg.Key.Text()+"\n" {
		t.Errorf("cluster.key does not hold the key given: %v", err)
	}
}

func TestDirectoryCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, config(file), "cannot be made: not a directory")
}

func TestWriteFileReplacesWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for _, content := range []string{"one", "two"} {
		if err := datadir.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestWritableByOthers checks that a directory is reported if another user than its owner can
// replace its files.
func TestWritableByOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	d := open(t, config(path))
	defer d.Close()
	for mode, want := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o770: true, 0o777: true, 0o702: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, writable, err := d.WritableByOthers(); err != nil || writable != want || got != mode {
			t.Errorf("mode %04o: %v with mode %04o, %v", mode, writable, got, err)
		}
	}
}
