package watchmodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"
)

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
)

// Object is an object at one version, as far as the model uses it. It is comparable.
type Object struct {
	Namespace, Name, UID string
	Version              uint64
	Labels               Labels
	Node, Phase          string // of a Pod: spec.nodeName and status.phase
	Finalizers           string // comma-separated
	Deleting             bool   // a deletion timestamp is set
	Marker               string // names the last write that set it
	Value                string // what the kind itself holds
}

func (o *Object) key() string { return o.Namespace + "/" + o.Name }

func (o *Object) String() string {
	text := fmt.Sprintf("%s version %d uid %.8s labels %q", o.key(), o.Version, o.UID, o.Labels)
	if o.Node != "" || o.Phase != "" {
		text += fmt.Sprintf(" node %q phase %q", o.Node, o.Phase)
	}
	if o.Deleting {
		text += " deleting"
	}
	return fmt.Sprintf("%s finalizers %q marker %q", text, o.Finalizers, o.Marker)
}

// Labels are sorted key=value pairs, separated by commas.
type Labels string

// LabelsOf returns the labels of a map.
func LabelsOf(m map[string]string) Labels {
	pairs := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, key+"="+m[key])
	}
	return Labels(strings.Join(pairs, ","))
}

func (l Labels) get(key string) (value string, found bool) {
	for pair := range strings.SplitSeq(string(l), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok && name == key {
			return value, true
		}
	}
	return "", false
}

// Event is one event as it arrived.
type Event struct {
	Type    string
	Form    string                // apiVersion and kind of what was sent
	Object  unique.Handle[Object] // of a bookmark only the version is set
	Arrived time.Duration
	// Initial marks the bookmark that follows the initial events.
	Initial bool
}

func (e *Event) version() uint64 { return e.Object.Value().Version }

// View is how much of an object a representation shows.
type View int

// The views.
const (
	Whole    View = iota // the object
	Metadata             // PartialObjectMetadata, or a row with one
	Row                  // a row of cells: name and version only
)

// of returns the part of an object that the view shows.
func (v View) of(o Object) Object {
	switch v {
	case Metadata:
		o.Node, o.Phase, o.Value = "", "", ""
		return o
	case Row:
		return Object{Name: o.Name, Version: o.Version}
	default:
		return o
	}
}
