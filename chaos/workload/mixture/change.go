package mixture

import (
	"strings"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

// release removes one finalizer of an object that is being deleted, usually together with a change
// of its labels. Without its last finalizer the object is gone: a watch whose selector matched the
// former labels must deliver the deletion, even if the selector does not match the final labels.
func (w *writer) release(s *slot) (client.Request, watchmodel.Write, error) {
	_, left, _ := strings.Cut(s.object.Finalizers, ",")
	return w.change(s, left)
}

// change changes the labels and finalizers of the object, by one of three kinds of requests.
func (w *writer) change(s *slot, finalizers string) (request client.Request, write watchmodel.Write, err error) {
	d := w.draft()
	if finalizers != "" {
		d.finalizers = strings.Split(finalizers, ",")
	}
	if finalizers != s.object.Finalizers && w.rand.IntN(4) == 0 {
		d.labels = labelled(s.object.Labels)
	}
	d.node = s.object.Node
	v := pick(w.rand, s.kind.versions)
	request = client.Request{Method: "PATCH", Path: s.kind.path(v, s.namespace, s.object.Name)}
	write = watchmodel.Write{Marker: d.marker}
	switch w.rand.IntN(3) {
	case 0:
		write.Kind, request.Method = "replace", "PUT"
		request.Body, err = s.kind.body(v, s.namespace, s.object.Name, d, s.object)
	case 1:
		write.Kind, request.ContentType = "merge patch", "application/merge-patch+json"
		request.Body, err = d.mergePatch(s.object)
	default:
		write.Kind, request.ContentType = "JSON patch", "application/json-patch+json"
		request.Body, err = d.jsonPatch(s.object)
	}
	return request, write, err
}
