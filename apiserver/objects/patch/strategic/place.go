package strategic

import (
	"fmt"
	"strings"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// place is a position in the document, with the schema's properties of the value there.
type place struct {
	name    string       // of the field
	typ     *schema.Type // nil if the schema does not define the value
	merge   bool         // items of the list merge, by key or as a set
	replace bool         // the value is replaced as a whole
	key     []string     // path of the merge key in an item; empty for a list of primitives
	work    *int         // bytes of items merged so far by the whole patch
}

// maxWork limits the bytes of live items into which one patch merges. Each item of a patch whose
// key is that of a large live item copies the live item, so that without the limit a small patch
// could occupy a processor for minutes. Ordinary patches merge into each live item once.
const maxWork = 64 << 20

// below returns the place of a member of the object at this place.
func (at place) below(name string) place {
	if at.typ == nil {
		return place{name: name}
	}
	switch at.typ.Form {
	case schema.FormMap:
		return place{name: name, typ: at.typ.Elem(), work: at.work}
	case schema.FormMessage:
		if f := at.typ.Message().Field(name); f != nil {
			return placeOf(f, at.work)
		}
	}
	return place{name: name}
}

func placeOf(f *schema.Field, work *int) place {
	at := place{name: f.Name, typ: f.Type, work: work}
	for strategy := range strings.SplitSeq(f.Spec.PatchStrategy, ",") {
		at.merge = at.merge || strategy == "merge" && at.isList()
		at.replace = at.replace || strategy == "replace"
	}
	if key := f.Spec.PatchMergeKey; at.merge && key != "" {
		at.key = []string{key}
		if item := f.Type.Elem().Message(); item != nil && item.Field(key) == nil {
			at.key = []string{"metadata", key} // items that are objects of their own, such as an image's signatures
		}
	}
	return at
}

// item returns the place of the items of the list at this place.
func (at place) item() place { return place{name: at.name, typ: at.typ.Elem(), work: at.work} }

// spend adds to the work of the patch and returns an error beyond the limit (F11).
func (at place) spend(bytes int) error {
	if *at.work += bytes; *at.work > maxWork {
		return limit.Reached(limit.PatchMerged,
			status.NewPatchTooLarge(at.named("the patch takes too much work: it merges large items too often")))
	}
	return nil
}

func (at place) isList() bool { return at.typ != nil && at.typ.Form == schema.FormList }

// isRaw reports whether a merge patch applies at the place, because it is inside an embedded object
// or unknown.
func (at place) isRaw() bool { return at.typ == nil || at.typ.Form == schema.FormRaw }

func (at place) isObject() bool {
	return at.typ != nil && (at.typ.Form == schema.FormMessage || at.typ.Form == schema.FormMap)
}

// keyOf returns the key that identifies an item of the list: the value of its merge key, or the
// item itself in a list of primitives. It returns "" if the item has no key.
func (at place) keyOf(item string) string {
	for _, name := range at.key {
		item = tree.Lookup(item, name)
	}
	switch tree.FormOf(item) {
	case tree.String:
		return `"` + tree.Unquote(item)
	case tree.Number, tree.Bool:
		return item
	}
	return ""
}

// noKey returns the error for an item without a merge key (F24).
func (at place) noKey() error {
	if len(at.key) == 0 {
		return at.refuse("a list of primitives takes no other items")
	}
	return at.refuse("an item has no merge key %s", strings.Join(at.key, "."))
}

// refuse returns the error of a patch that does not fit the document (F23, F24).
func (at place) refuse(format string, args ...any) error {
	return status.NewPatchRefused(at.named(fmt.Sprintf(format, args...)))
}

func (at place) named(text string) string {
	if at.name == "" {
		return text
	}
	return at.name + ": " + text
}
