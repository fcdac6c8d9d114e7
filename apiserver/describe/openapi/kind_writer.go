package openapi

import (
	"net/http"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/apiserver/rest/parameter"
	"quorate/apiserver/rest/route"
)

// kindWriter writes the operations of one kind.
type kindWriter struct {
	*builder
	kind       *schema.Kind
	object     string // component of the kind's objects
	namespaced string // "Namespaced", or "" for cluster-scoped kinds
}

// add adds a path with the operations that are not nil.
func (w *kindWriter) add(text string, operations ...*operation) {
	p := path{text: text}
	for _, o := range operations {
		if o == nil {
			continue
		}
		if o.kind == nil {
			o.kind = w.kind
		}
		o.id, o.tag = w.unique(o.id), tag(w.kind)
		p.operations = append(p.operations, *o)
	}
	if len(p.operations) > 0 {
		w.paths = append(w.paths, p)
	}
}

// id returns the id of an operation, such as "listCoreV1NamespacedPod".
func (w *kindWriter) id(verb, scope, suffix string) string {
	return verb + groupName(w.kind) + scope + w.kind.Kind + suffix
}

func (w *kindWriter) offers(op schema.Operations) bool { return w.kind.Operations.Has(op) }

func (w *kindWriter) gives(component string, streams bool) body {
	return body{component: component, media: produced(w.kind, streams)}
}

func (w *kindWriter) list(op schema.Operations, scope, suffix string) *operation {
	if !w.offers(op) {
		return nil
	}
	name := w.listName()
	return &operation{
		method: http.MethodGet, action: route.VerbList, id: w.id("list", scope, suffix),
		about: "List or watch objects of the kind " + w.kind.Kind + ".", queries: listQuery(w.kind),
		gives: w.gives(name, w.offers(schema.OpWatchQuery)),
	}
}

// listName returns the component of the kind's lists. It adds the component on the first call.
func (w *kindWriter) listName() string {
	if w.lists[w.kind] == "" {
		w.lists[w.kind] = w.schemas.list(w.kind, w.object, w.common.listMeta)
	}
	return w.lists[w.kind]
}

func (w *kindWriter) create(op schema.Operations, scope string) *operation {
	if !w.offers(op) {
		return nil
	}
	return &operation{
		method: http.MethodPost, action: "post", id: w.id("create", scope, ""), about: "Create an object of the kind " + w.kind.Kind + ".",
		queries: queryOf(parameter.Create), takes: body{w.object, []string{mediaAny}, true}, gives: w.gives(w.object, false),
	}
}

func (w *kindWriter) deleteCollection() *operation {
	if !w.offers(schema.OpDeleteCollection) {
		return nil
	}
	return &operation{
		method: http.MethodDelete, action: route.VerbDeleteCollection, id: w.id("delete", "Collection"+w.namespaced, ""),
		about:   "Delete objects of the kind " + w.kind.Kind + ".",
		queries: queryOf(parameter.DeleteCollection), takes: w.deleteOptions(), gives: w.gives(w.statusName(), false),
	}
}

func (w *kindWriter) delete() *operation {
	if !w.offers(schema.OpDelete) {
		return nil
	}
	return &operation{
		method: http.MethodDelete, action: route.VerbDelete, id: w.id("delete", w.namespaced, ""),
		about:   "Delete an object of the kind " + w.kind.Kind + ".",
		queries: queryOf(parameter.Delete), takes: w.deleteOptions(), gives: w.gives(w.statusName(), false),
	}
}

func (w *kindWriter) deleteOptions() body {
	w.schemas.reference(w.common.deleteOptions)
	return body{component: w.schemas.names[w.common.deleteOptions], media: []string{mediaAny}}
}

func (b *builder) statusName() string {
	b.schemas.reference(b.common.status)
	return b.schemas.names[b.common.status]
}

// part returns a phrase for an object or for its subresource sub.
func (w *kindWriter) part(sub string) string {
	if sub == "" {
		return "an object of the kind " + w.kind.Kind + "."
	}
	return "the " + sub + " of an object of the kind " + w.kind.Kind + "."
}

func (w *kindWriter) read(sub string, op schema.Operations) *operation {
	if !w.offers(op) {
		return nil
	}
	queries := queryOf(parameter.Get)
	if sub == "" {
		queries = readQuery(w.kind)
	}
	return &operation{
		method: http.MethodGet, action: route.VerbGet, id: w.id("read", w.namespaced, upperOrNone(sub)),
		about: "Read " + w.part(sub), queries: queries, gives: w.gives(w.object, false),
	}
}

func (w *kindWriter) replace(sub string, op schema.Operations) *operation {
	if !w.offers(op) {
		return nil
	}
	return &operation{
		method: http.MethodPut, action: "put", id: w.id("replace", w.namespaced, upperOrNone(sub)), about: "Replace " + w.part(sub),
		queries: queryOf(parameter.Update), takes: body{w.object, []string{mediaAny}, true}, gives: w.gives(w.object, false),
	}
}

func (w *kindWriter) patch(sub string, op schema.Operations) *operation {
	if !w.offers(op) {
		return nil
	}
	w.schemas.all[patchName] = object{"description": "A patch: an object, or for a JSON patch a list of operations."}
	return &operation{
		method: http.MethodPatch, action: route.VerbPatch, id: w.id("patch", w.namespaced, upperOrNone(sub)), about: "Change " + w.part(sub),
		queries: queryOf(parameter.Patch), takes: body{patchName, consumed(w.kind), true}, gives: w.gives(w.object, false),
	}
}

func upperOrNone(s string) string {
	if s == "" {
		return ""
	}
	return upperFirst(s)
}

func (w *kindWriter) watch(op schema.Operations, action, scope, suffix string) *operation {
	if !w.offers(op) {
		return nil
	}
	w.schemas.reference(w.common.watchEvent)
	about := "Watch objects of the kind " + w.kind.Kind + "."
	if action == "watch" {
		about = "Watch an object of the kind " + w.kind.Kind + "."
	}
	return &operation{
		method: http.MethodGet, action: action, id: w.id("watch", scope, suffix), about: about,
		queries: queryOf(parameter.Watch), gives: w.gives(w.schemas.names[w.common.watchEvent], true),
	}
}

// subresource returns the operations of a subresource.
func (w *kindWriter) subresource(sub rest.Subresource) []*operation {
	of := *w
	if sub.Kind != w.kind {
		of.object = w.schemas.kind(sub.Kind)
	}
	var operations []*operation
	for _, verb := range sub.Verbs {
		switch verb {
		case route.VerbGet:
			operations = append(operations, of.read(sub.Name, served))
		case route.VerbUpdate:
			operations = append(operations, of.replace(sub.Name, served))
		case route.VerbPatch:
			operations = append(operations, of.patch(sub.Name, served))
		}
	}
	for _, o := range operations {
		o.kind = sub.Kind
	}
	return operations
}

// served is passed as the operation where the caller has already checked that it is offered.
const served schema.Operations = 0
