package disk

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
)

// model is a naive disk in memory. It remembers the names after each change, all of them, and of
// each file the bytes of its last sync.
type model struct {
	strict  bool
	names   map[string]*thing   // by path; "" is the root
	history []map[string]*thing // names before each change, and now; history[i] is what i changes made
	durable int                 // in history: unless strict
}

// thing is a file or a directory.
type thing struct {
	data, synced []byte
	directory    bool
	latest       int               // the change of names that concerned it last
	entries      map[string]*thing // of a directory on a strict disk: as last synced
}

func newModel(strict bool) *model {
	m := &model{strict: strict, names: map[string]*thing{"": {directory: true}}}
	m.history = append(m.history, maps.Clone(m.names))
	return m
}

// changed notes a change of names that concerns these paths and their directories.
func (m *model) changed(things ...*thing) {
	m.history = append(m.history, maps.Clone(m.names))
	for _, t := range things {
		if t != nil {
			t.latest = len(m.history) - 1
		}
	}
}

func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

func (m *model) parent(name string) *thing { return m.names[parent(name)] }

func (m *model) isDir(name string) bool { return m.names[name] != nil && m.names[name].directory }

// below returns the names in a directory, at any depth.
func (m *model) below(dir string) (found []string) {
	for name := range m.names {
		if name != "" && (dir == "" || strings.HasPrefix(name, dir+"/")) {
			found = append(found, name)
		}
	}
	return found
}

func (m *model) create(name string, directory bool) {
	t := &thing{directory: directory}
	m.names[name] = t
	m.changed(t, m.parent(name))
}

func (m *model) remove(name string) {
	t := m.names[name]
	delete(m.names, name)
	m.changed(t, m.parent(name))
}

func (m *model) link(from, to string) {
	m.names[to] = m.names[from]
	m.changed(m.names[to], m.parent(to))
}

// mayRename says whether rename(2) would, and whether it would change anything.
func (m *model) mayRename(from, to string) (may, changes bool) {
	t, over := m.names[from], m.names[to]
	switch {
	case t == nil || !m.isDir(parent(to)):
		return false, false
	case t == over:
		return true, false
	case t.directory && strings.HasPrefix(to, from+"/"):
		return false, false
	case over != nil && (over.directory != t.directory || len(m.below(to)) > 0):
		return false, false
	default:
		return true, true
	}
}

func (m *model) rename(from, to string) {
	t, over := m.names[from], m.names[to]
	former, latter := m.parent(from), m.parent(to)
	for _, name := range m.below(from) {
		m.names[to+strings.TrimPrefix(name, from)] = m.names[name]
		delete(m.names, name)
	}
	delete(m.names, from)
	m.names[to] = t
	m.changed(t, over, former, latter)
}

func (t *thing) write(off int, data []byte) {
	if grown := off + len(data); grown > len(t.data) {
		t.data = append(t.data, make([]byte, grown-len(t.data))...)
	}
	copy(t.data[off:], data)
}

func (t *thing) truncate(size int) {
	if size > len(t.data) {
		t.write(size, nil)
	}
	t.data = t.data[:size:size]
}

func (m *model) sync(name string) {
	t := m.names[name]
	t.synced = bytes.Clone(t.data)
	if !m.strict {
		m.durable = max(m.durable, t.latest)
		return
	}
	if t.directory {
		t.entries = map[string]*thing{}
		for _, below := range m.below(name) {
			if parent(below) == name {
				t.entries[path.Base(below)] = m.names[below]
			}
		}
	}
}

func (m *model) crash() {
	if m.strict {
		root := m.names[""]
		m.names = map[string]*thing{}
		m.revive("", root)
	} else {
		m.names = m.history[m.durable]
	}
	m.settle(func(t *thing) { t.data = bytes.Clone(t.synced) })
}

// revive finds what a strict disk has left of a directory. Something moved that is in two places
// stays in the first, if it is a directory.
func (m *model) revive(name string, t *thing) {
	m.names[name] = t
	for _, base := range slices.Sorted(maps.Keys(t.entries)) {
		child := t.entries[base]
		if child.directory && slices.Contains(slices.Collect(maps.Values(m.names)), child) {
			delete(t.entries, base)
			continue
		}
		m.revive(path.Join(name, base), child)
	}
}

// remount makes all durable.
func (m *model) remount() {
	m.settle(func(t *thing) { t.synced = bytes.Clone(t.data) })
	if m.strict {
		for name, t := range m.names {
			if t.directory {
				m.sync(name)
			}
		}
	}
}

// settle begins the history anew.
func (m *model) settle(each func(*thing)) {
	for _, t := range m.names {
		t.latest = 0
		each(t)
	}
	m.history = []map[string]*thing{maps.Clone(m.names)}
	m.durable = 0
}

// tree is all that processes see: the contents of files by path, and directories with a slash at
// the end.
func (m *model) tree() map[string]string {
	tree := map[string]string{}
	for name, t := range m.names {
		if t.directory {
			tree[name+"/"] = ""
		} else {
			tree[name] = string(t.data)
		}
	}
	return tree
}
