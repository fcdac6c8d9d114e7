package client

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Resource contains the parts of an object of any kind, in any representation, that clients use.
type Resource struct {
	APIVersion, Kind     string // of the representation
	Namespace, Name, UID string
	Version              uint64
	Labels, Annotations  map[string]string
	Finalizers           []string
	Deleting             bool              // it has a deletion timestamp
	Node, Phase          string            // of a Pod
	Data                 map[string]string // of a ConfigMap
	Replicas             int64             // of a StatefulSet
	Items                []Resource        // of a list
	DeletedUID           string            // of the Status that answers a deletion
}

// initialEventsEnd is the annotation of the bookmark that follows the initial events of a watch.
const initialEventsEnd = "k8s.io/initial-events-end"

// EndsInitialEvents reports whether the object is the bookmark that follows the initial events.
func (r *Resource) EndsInitialEvents() bool { return r.Annotations[initialEventsEnd] == "true" }

// jsonResource has the fields of all kinds.
type jsonResource struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   jsonMeta          `json:"metadata"`
	Data       map[string]string `json:"data"`
	Spec       struct {
		NodeName string `json:"nodeName"`
		Replicas int64  `json:"replicas"`
	} `json:"spec"`
	Status  json.RawMessage `json:"status"` // of a Status it is a string
	Items   []jsonResource  `json:"items"`
	Rows    []jsonRow       `json:"rows"`
	Details struct {
		UID string `json:"uid"`
	} `json:"details"`
}

type jsonMeta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	Finalizers        []string          `json:"finalizers"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
}

type jsonRow struct {
	Cells  []any         `json:"cells"`
	Object *jsonResource `json:"object"`
}

// parseResource reads an answer in JSON.
func parseResource(text []byte) (Resource, error) {
	var j jsonResource
	if err := json.Unmarshal(text, &j); err != nil {
		return Resource{}, err
	}
	if j.Kind == "Table" {
		return j.table()
	}
	return j.resource()
}

func (j *jsonResource) resource() (r Resource, err error) {
	r = Resource{
		APIVersion: j.APIVersion, Kind: j.Kind, Namespace: j.Metadata.Namespace, Name: j.Metadata.Name, UID: j.Metadata.UID,
		Labels: j.Metadata.Labels, Annotations: j.Metadata.Annotations, Finalizers: j.Metadata.Finalizers,
		Deleting: j.Metadata.DeletionTimestamp != "", Data: j.Data, Node: j.Spec.NodeName, Replicas: j.Spec.Replicas,
		DeletedUID: j.Details.UID,
	}
	if j.Kind == "Status" {
		return r, nil
	}
	if len(j.Status) > 0 {
		var status struct {
			Phase string `json:"phase"`
		}
		if err := json.Unmarshal(j.Status, &status); err != nil {
			return r, err
		}
		r.Phase = status.Phase
	}
	for i := range j.Items {
		item, err := j.Items[i].resource()
		if err != nil {
			return r, err
		}
		r.Items = append(r.Items, item)
	}
	r.Version, err = parseVersion(j.Metadata.ResourceVersion)
	return r, err
}

// table reads a Table with one row, or with none as a bookmark has.
func (j *jsonResource) table() (Resource, error) {
	version, err := parseVersion(j.Metadata.ResourceVersion)
	if err != nil {
		return Resource{}, err
	}
	r := Resource{Version: version, Annotations: j.Metadata.Annotations}
	switch {
	case len(j.Rows) > 1:
		return r, fmt.Errorf("a Table of %d rows, want one", len(j.Rows))
	case len(j.Rows) == 1 && len(j.Rows[0].Cells) == 0:
		return r, fmt.Errorf("a row without cells, of version %d", version)
	case len(j.Rows) == 1:
		r.Name, _ = j.Rows[0].Cells[0].(string)
		if row := j.Rows[0].Object; row != nil {
			name := r.Name
			if r, err = row.resource(); err != nil {
				return r, err
			}
			if r.Version != version || r.Name != name {
				return r, fmt.Errorf("a row of %s, in a Table of version %d, with the object %s of version %d", name, version, r.Name, r.Version)
			}
		}
	}
	r.APIVersion, r.Kind = j.APIVersion, j.Kind
	return r, nil
}

// parseNotice reads one line of a watch.
func parseNotice(line []byte) (Notice, error) {
	var frame struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &frame); err != nil {
		return Notice{}, fmt.Errorf("%w: event %.300q: %w", ErrRefused, bytes.TrimSpace(line), err)
	}
	if frame.Type == "ERROR" {
		var status Status
		if err := json.Unmarshal(frame.Object, &status); err != nil {
			return Notice{}, fmt.Errorf("%w: error event: %w", ErrRefused, err)
		}
		return Notice{}, status.refusal()
	}
	o, err := parseResource(frame.Object)
	if err != nil {
		return Notice{}, fmt.Errorf("%w: event %.300q: %w", ErrRefused, bytes.TrimSpace(line), err)
	}
	return Notice{Type: frame.Type, Object: o}, nil
}
