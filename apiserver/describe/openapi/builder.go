package openapi

import (
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
)

// builder collects the content of one document: paths with their operations, and the components
// that these refer to.
type builder struct {
	common  *common
	schemas *schemas
	paths   []path
	ids     map[string]bool
	lists   listNames
}

// listNames maps kinds to the components of their lists.
type listNames map[*schema.Kind]string

// common holds the messages that operations of all kinds use.
type common struct {
	status, deleteOptions, watchEvent, listMeta *schema.Message
}

// kind adds the paths of a kind with the operations that the kind offers (§4.2).
func (b *builder) kind(k *schema.Kind) {
	w := &kindWriter{builder: b, kind: k, object: b.schemas.kind(k)}
	all := k.Prefix + "/" + k.Plural
	collection := all
	if k.Namespaced {
		w.namespaced = "Namespaced"
		collection = k.Prefix + "/namespaces/{namespace}/" + k.Plural
		w.add(all, w.list(schema.OpListAll, "", "ForAllNamespaces"), w.create(schema.OpCreateClusterWide, ""))
	}
	w.add(collection, w.list(schema.OpList, w.namespaced, ""), w.create(schema.OpCreate, w.namespaced), w.deleteCollection())
	item := collection + "/{name}"
	w.add(item, w.read("", schema.OpRead), w.replace("", schema.OpReplace), w.patch("", schema.OpPatch), w.delete())
	for _, sub := range rest.Subresources(k) {
		w.add(item+"/"+sub.Name, w.subresource(sub)...)
	}
	watched := func(path string) string { return k.Prefix + "/watch" + strings.TrimPrefix(path, k.Prefix) }
	if k.Namespaced {
		w.add(watched(all), w.watch(schema.OpWatchAll, "watchlist", "", "ListForAllNamespaces"))
		w.add(watched(collection), w.watch(schema.OpWatchNamespace, "watchlist", w.namespaced, "List"))
	} else {
		w.add(watched(all), w.watch(schema.OpWatchAll, "watchlist", "", "List"))
	}
	w.add(watched(item), w.watch(schema.OpWatchOne, "watch", w.namespaced, ""))
}

// unique returns an operation id that is not in use yet, by adding a number to id if necessary.
// Otherwise a kind FooList and the lists of a kind Foo would have the same ids.
func (b *builder) unique(id string) string {
	free := id
	for n := 2; b.ids[free]; n++ {
		free = id + strconv.Itoa(n)
	}
	b.ids[free] = true
	return free
}
