package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"quorate/chaos/capability"
)

// TestAgainstModel applies random operations, syncs and power cuts to a disk and compares it with a
// naive model.
func TestAgainstModel(t *testing.T) {
	capability.Require(t, Available())
	for name, options := range map[string][]Option{"ordered": nil, "strict": {Strict}} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				m := &machine{model: newModel(len(options) > 0), options: options}
				root, err := os.MkdirTemp(t.TempDir(), "")
				if err != nil {
					rt.Fatal(err)
				}
				m.dir, m.backing = filepath.Join(root, "mnt"), filepath.Join(root, "backing")
				if err := errors.Join(os.Mkdir(m.dir, 0o755), m.mount()); err != nil {
					rt.Fatal(err)
				}
				defer func() {
					if err := m.disk.Close(); err != nil {
						rt.Error(err)
					}
				}()
				rt.Repeat(m.actions())
			})
		})
	}
}

// machine does the same to a disk and to the model.
type machine struct {
	dir, backing string
	options      []Option
	disk         *Disk
	model        *model
	writes       int
}

func (m *machine) mount() (err error) {
	m.disk, err = Mount(m.dir, m.backing, slog.New(slog.DiscardHandler), m.options...)
	return err
}

func (m *machine) at(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

// names are few, so that they meet.
func names() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "x", "y", "x/a", "x/b", "y/a", "x/y", "x/y/a", "y/x", "y/x/b"})
}

// draw draws a name that is there and fits; it gives the action up when there is none.
func (m *machine) draw(t *rapid.T, fits func(*thing) bool) string {
	var fitting []string
	for name, thing := range m.model.names {
		if fits(thing) {
			fitting = append(fitting, name)
		}
	}
	if len(fitting) == 0 {
		t.Skip("nothing fits")
	}
	return rapid.SampledFrom(slices.Sorted(slices.Values(fitting))).Draw(t, "name")
}

func isFile(t *thing) bool { return !t.directory }

// both does something to the disk, which must succeed exactly if the model says so, and then to the
// model.
func both(t *rapid.T, may bool, disk func() error, model func()) {
	t.Helper()
	switch err := disk(); {
	case (err == nil) != may:
		t.Fatalf("%v, but the model: %v", err, may)
	case may:
		model()
	}
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			if difference := m.difference(); difference != "" {
				t.Fatal(difference)
			}
		},
		"create": func(t *rapid.T) {
			name := names().Draw(t, "name")
			may := m.model.names[name] == nil && m.model.isDir(parent(name))
			both(t, may, func() error {
				f, err := os.OpenFile(m.at(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
				return errors.Join(err, closed(f))
			}, func() { m.model.create(name, false) })
		},
		"mkdir": func(t *rapid.T) {
			name := names().Draw(t, "name")
			may := m.model.names[name] == nil && m.model.isDir(parent(name))
			both(t, may, func() error { return os.Mkdir(m.at(name), 0o755) }, func() { m.model.create(name, true) })
		},
		"remove": func(t *rapid.T) {
			name := names().Draw(t, "name")
			may := m.model.names[name] != nil && len(m.model.below(name)) == 0
			both(t, may, func() error { return os.Remove(m.at(name)) }, func() { m.model.remove(name) })
		},
		"link": func(t *rapid.T) {
			from, to := m.draw(t, isFile), names().Draw(t, "to")
			may := m.model.names[to] == nil && m.model.isDir(parent(to))
			both(t, may, func() error { return os.Link(m.at(from), m.at(to)) }, func() { m.model.link(from, to) })
		},
		"rename": func(t *rapid.T) {
			from, to := names().Draw(t, "from"), names().Draw(t, "to")
			may, changes := m.model.mayRename(from, to)
			both(t, may, func() error { return unix.Rename(m.at(from), m.at(to)) }, func() {
				if changes {
					m.model.rename(from, to)
				}
			})
		},
		"write": func(t *rapid.T) {
			name := m.draw(t, isFile)
			m.writes++
			off := rapid.IntRange(0, 3*pageBytes).Draw(t, "off")
			data := bytes.Repeat([]byte{byte('a' + m.writes%26)}, rapid.IntRange(1, 2*pageBytes).Draw(t, "length"))
			both(t, true, m.with(name, func(f *os.File) error { _, err := f.WriteAt(data, int64(off)); return err }),
				func() { m.model.names[name].write(off, data) })
		},
		"truncate": func(t *rapid.T) {
			name, size := m.draw(t, isFile), rapid.IntRange(0, 4*pageBytes).Draw(t, "size")
			both(t, true, m.with(name, func(f *os.File) error { return f.Truncate(int64(size)) }),
				func() { m.model.names[name].truncate(size) })
		},
		"sync": func(t *rapid.T) {
			name := m.draw(t, func(*thing) bool { return true })
			both(t, true, func() error {
				f, err := os.Open(m.at(name))
				if err != nil {
					return err
				}
				return errors.Join(f.Sync(), f.Close())
			}, func() { m.model.sync(name) })
		},
		"crash": func(t *rapid.T) { both(t, true, func() error { return m.disk.Crash() }, m.model.crash) },
		"remount": func(t *rapid.T) {
			both(t, true, func() error { return errors.Join(m.disk.Close(), m.mount()) }, m.model.remount)
		},
	}
}

// with does something to an open file.
func (m *machine) with(name string, do func(*os.File) error) func() error {
	return func() error {
		f, err := os.OpenFile(m.at(name), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(do(f), f.Close())
	}
}

func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// difference is between what a process sees and the model.
func (m *machine) difference() string {
	tree := map[string]string{}
	err := filepath.WalkDir(m.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.dir, path)
		if err != nil {
			return err
		}
		if name == "." {
			name = ""
		}
		if e.IsDir() {
			tree[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		tree[name] = string(data)
		return err
	})
	if err != nil {
		return err.Error()
	}
	want := m.model.tree()
	if !maps.Equal(tree, want) {
		return fmt.Sprint("the disk (-) differs from the model (+): ", cmp.Diff(tree, want))
	}
	return ""
}
