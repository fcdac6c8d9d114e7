package patch

import (
	"bytes"
	"mime"
	"strings"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/patch/merge"
	"quorate/apiserver/objects/patch/operations"
	"quorate/apiserver/objects/patch/strategic"
	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// Type is a type of patch.
type Type uint8

// The types of patches.
const (
	JSON Type = iota
	Merge
	Strategic
	Apply // server-side apply, which package apply implements
)

// mediaTypes are the media types of §4.3, indexed by Type, in the order in which a 415 lists them.
var mediaTypes = [...]string{
	JSON:      "application/json-patch+json",
	Merge:     "application/merge-patch+json",
	Strategic: "application/strategic-merge-patch+json",
	Apply:     "application/apply-patch+yaml",
}

// String returns the type's media type.
func (t Type) String() string { return mediaTypes[t] }

// TypeOf returns the patch type for a Content-Type, whose parameters it ignores. It returns a 415
// error for other media types (F2, F3).
func TypeOf(contentType string) (Type, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil { // ignore malformed parameters
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	for t, name := range mediaTypes {
		if media == name {
			return Type(t), nil
		}
	}
	return 0, status.NewUnsupportedMediaType(mediaTypes[:])
}

// Patch is a parsed patch.
type Patch struct {
	kind       Type
	root       *tree.Node             // for merge and strategic merge patches
	operations []operations.Operation // for JSON patches
	problems   []string
}

// Parse parses the body of a patch request that is not an apply. It returns a 400 error for a
// malformed patch (F7, F13) and a 413 error for too many operations (F11).
func Parse(t Type, body []byte) (*Patch, error) {
	root, problems, err := tree.Parse(body)
	if err != nil {
		return nil, limit.Carry(err, status.NewBadRequest("error decoding patch: "+err.Error()))
	}
	p := &Patch{kind: t, root: root, problems: problems}
	if t == JSON {
		p.root = nil
		if p.operations, err = operations.Parse(root); err != nil {
			return nil, err
		}
		return p, nil
	}
	if form := root.Form(); form != tree.Object { // only a JSON patch may be a list (F13)
		return nil, status.NewBadRequest("error decoding patch: the patch must be an object, not " + form.String())
	}
	return p, nil
}

// Expansion returns at most how many bytes Parse and Apply take for a patch, its result left out. A
// member of an object is taken apart, and found by its name.
func Expansion(body []byte) int64 {
	const memberBytes, itemBytes = 320, 128
	return int64(2*len(body) + memberBytes*bytes.Count(body, []byte(":")) + itemBytes*bytes.Count(body, []byte(",")))
}

// Problems returns a text for each duplicate name in an object of the patch, such as `duplicate
// field "spec.foo"`. The last occurrence takes effect (F37).
func (p *Patch) Problems() []string { return p.problems }

// Apply returns the patched document. document is the JSON of the stored object in the form of kind
// k; Apply does not modify it. The result is valid JSON but not necessarily a valid object of the
// kind (F26).
//
// It returns a 422 error if the patch does not fit the document (F8, F9, F23, F24), 400 for
// malformed directives (F21–F23), 413 if the patch takes too much work (F11), and 415 for a
// strategic merge patch of a kind that was defined at run time (F25).
func (p *Patch) Apply(k *schema.Kind, document []byte) ([]byte, error) {
	text := string(document)
	if p.kind == JSON {
		return operations.Append(make([]byte, 0, len(text)), text, p.operations)
	}
	out := make([]byte, 0, len(text)+len(p.root.Text))
	if p.kind == Merge {
		return merge.Append(out, text, p.root), nil
	}
	if k.Schemaless() {
		return nil, status.NewUnsupportedMediaType([]string{mediaTypes[JSON], mediaTypes[Merge], mediaTypes[Apply]})
	}
	return strategic.Append(out, text, p.root, k.Message)
}
