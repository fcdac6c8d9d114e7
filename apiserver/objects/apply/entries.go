package apply

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"quorate/apiserver/objects/schema"
)

// The operations of entries.
const (
	operationApply  = "Apply"
	operationUpdate = "Update"
)

const fieldsV1 = "FieldsV1"

// owner identifies an entry of managedFields. Its JSON text is the name of a manager in the
// library, and conflicts are sorted by it, so the members are in the order of Kubernetes. The
// identity of an applier does not include the apiVersion: an applier has one entry for each
// subresource, whatever version it applies in.
type owner struct {
	Manager     string `json:"manager,omitempty"`
	Operation   string `json:"operation,omitempty"`
	APIVersion  string `json:"apiVersion,omitempty"`
	Subresource string `json:"subresource,omitempty"`
}

func (o owner) id() string {
	if o.Operation == operationApply {
		o.APIVersion = ""
	}
	text, err := json.Marshal(o)
	if err != nil { // cannot happen: there are only strings
		panic("apply: " + err.Error())
	}
	return string(text)
}

func ownerOf(id string) (owner, error) {
	var o owner
	err := json.Unmarshal([]byte(id), &o)
	return o, err
}

// managed is the decoded managedFields of an object.
type managed struct {
	fields fieldpath.ManagedFields // by owner.id
	times  map[string]time.Time    // may lack an owner
}

func newManaged() *managed {
	return &managed{fields: fieldpath.ManagedFields{}, times: map[string]time.Time{}}
}

// copy returns a copy whose maps can be changed. The sets in them never change.
func (m *managed) copy() *managed {
	return &managed{fields: maps.Clone(m.fields), times: maps.Clone(m.times)}
}

// decode decodes entries. It returns an error for an entry that no server would have written.
func decode(entries *schema.Value) (*managed, error) {
	m := newManaged()
	for i, e := range entries.Items() {
		o := owner{
			Manager: e.Field("manager").Str(), Operation: e.Field("operation").Str(),
			APIVersion: e.Field("apiVersion").Str(), Subresource: e.Field("subresource").Str(),
		}
		switch {
		case o.Operation != operationApply && o.Operation != operationUpdate:
			return nil, fmt.Errorf("entry %d: operation must be `Apply` or `Update`", i)
		case o.APIVersion == "":
			return nil, fmt.Errorf("entry %d: apiVersion must not be empty", i)
		case e.Field("fieldsType").Str() != fieldsV1:
			return nil, fmt.Errorf("entry %d: fieldsType must be %s", i, fieldsV1)
		}
		set := fieldpath.NewSet()
		if fields := e.Field("fieldsV1"); fields.IsSet() {
			if err := set.FromJSON(strings.NewReader(fields.Str())); err != nil {
				return nil, fmt.Errorf("entry %d: fieldsV1: %w", i, err)
			}
		}
		id := o.id()
		m.fields[id] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(o.APIVersion), o.Operation == operationApply)
		if t := e.Field("time"); t.IsSet() {
			m.times[id] = t.Time()
		}
	}
	return m, nil
}

// entry is an entry to be written.
type entry struct {
	owner
	time    time.Time // zero if there is none
	timed   bool
	seconds int64
	fields  []byte
}

// encode replaces the managed fields of an object, in the order of Kubernetes: appliers first, each
// group from the oldest change to the newest.
func (m *managed) encode(o *schema.Object) error {
	entries := make([]entry, 0, len(m.fields))
	for id, set := range m.fields {
		who, err := ownerOf(id)
		if err != nil {
			return fmt.Errorf("manager %s: %w", id, err)
		}
		who.APIVersion = string(set.APIVersion())
		if set.Applied() {
			who.Operation = operationApply
		}
		e := entry{owner: who}
		if e.time, e.timed = m.times[id]; e.timed {
			e.seconds = e.time.Unix()
		}
		if e.fields, err = set.Set().ToJSON(); err != nil {
			return fmt.Errorf("fields of manager %s: %w", who.Manager, err)
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		o.ClearManagedFields()
		return nil
	}
	slices.SortFunc(entries, compareEntries)
	list := o.MakeManagedFields()
	for i := range entries {
		entries[i].write(list.Append())
	}
	return nil
}

func compareEntries(a, b entry) int {
	return cmp.Or(
		strings.Compare(a.Operation, b.Operation),
		cmp.Compare(a.seconds, b.seconds),
		strings.Compare(a.Manager, b.Manager),
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Subresource, b.Subresource),
	)
}

func (e *entry) write(to *schema.Value) {
	to.Make("manager").SetStr(e.Manager)
	to.Make("operation").SetStr(e.Operation)
	to.Make("apiVersion").SetStr(e.APIVersion)
	if e.timed {
		to.Make("time").SetTime(e.time)
	}
	to.Make("fieldsType").SetStr(fieldsV1)
	to.Make("fieldsV1").SetStr(string(bytes.TrimSpace(e.fields)))
	if e.Subresource != "" {
		to.Make("subresource").SetStr(e.Subresource)
	}
}

// SameButTimes reports whether two lists of entries differ in nothing but their times, of which at
// least one does.
func SameButTimes(a, b *schema.Value) bool {
	if a.Len() == 0 || a.Len() != b.Len() || schema.Equal(a, b) {
		return false
	}
	untimed := func(entries *schema.Value) map[string]string {
		out := make(map[string]string, entries.Len())
		for _, e := range entries.Items() {
			e = e.Copy()
			fields := e.Field("fieldsV1").Str()
			e.Clear("time")
			e.Clear("fieldsV1")
			out[string(e.AppendJSON(nil))] = fields
		}
		return out
	}
	first, second := untimed(a), untimed(b)
	for e, fields := range first {
		if other, ok := second[e]; !ok || other != fields {
			return false
		}
	}
	return len(first) == len(second)
}
