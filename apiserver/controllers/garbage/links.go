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

// Texts in the JSON of objects that the collector may have to handle. Other objects may contain
// them, too, in templates or strings, so a match has to be confirmed by reading the metadata.
const (
	ownersMark = `"ownerReferences":[`
	goingMark  = `"deletionTimestamp":"`
	metaMark   = `"metadata":`
)

// links is the part of an object's metadata that the collector uses.
type links struct {
	Owners     []reference `json:"ownerReferences"`
	Finalizers []string    `json:"finalizers"`
	Deletion   string      `json:"deletionTimestamp"`
}

// reference is one entry of ownerReferences.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Blocks     bool   `json:"blockOwnerDeletion"`
}

// mayLink reports, at little cost, whether the graph may have to contain an object.
func mayLink(o *state.Object) bool {
	return bytes.Contains(o.Value, []byte(ownersMark)) || bytes.Contains(o.Value, []byte(goingMark))
}

// readLinks decodes the object's metadata only, because an object can be large. The metadata comes
// first, after kind and apiVersion. The stored apiVersion may differ from the kind's (K10).
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

// blocks reports whether one of the references makes its owner wait.
func (l *links) blocks() bool {
	return slices.ContainsFunc(l.Owners, func(r reference) bool { return r.Blocks })
}
