package garbage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

// What stands in the bytes of objects that the collector may have to know. Others may hold it too
// (in templates, or in texts): reading the metadata tells.
const (
	ownersMark = `"ownerReferences":[`
	goingMark  = `"deletionTimestamp":"`
	metaMark   = `"metadata":`
)

// links is what the collector reads of an object's metadata.
type links struct {
	Owners     []reference `json:"ownerReferences"`
	Finalizers []string    `json:"finalizers"`
	Deletion   string      `json:"deletionTimestamp"`
}

// reference is one of ownerReferences.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Blocks     bool   `json:"blockOwnerDeletion"`
}

// mayLink tells cheaply that an object need not be in the graph.
func mayLink(o *state.Object) bool {
	return bytes.Contains(o.Value, []byte(ownersMark)) || bytes.Contains(o.Value, []byte(goingMark))
}

// readLinks reads the metadata alone: it comes first, after kind and apiVersion, and an object can
// be large. What the apiVersion is the kind does not tell: objects may be stored under another one
// (K10).
func readLinks(k *schema.Kind, o *state.Object) (links, error) {
	var l links
	_, rest, ok := bytes.Cut(o.Value, []byte(metaMark))
	if !ok {
		return l, fmt.Errorf("stored %s of version %d has no metadata", k.Kind, o.Version)
	}
	if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&l); err != nil {
		return l, fmt.Errorf("read metadata of stored %s of version %d: %w", k.Kind, o.Version, err)
	}
	return l, nil
}

func (l *links) going() bool      { return l.Deletion != "" }
func (l *links) orphans() bool    { return slices.Contains(l.Finalizers, deletion.OrphanFinalizer) }
func (l *links) foreground() bool { return slices.Contains(l.Finalizers, deletion.ForegroundFinalizer) }

// blocks reports whether a reference makes its owner wait.
func (l *links) blocks() bool {
	return slices.ContainsFunc(l.Owners, func(r reference) bool { return r.Blocks })
}
