package operations

import (
	"fmt"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/wire/status"
)

// MaxOperations is the maximum number of operations in a patch (F11).
const MaxOperations = 10_000

// Operation is one step of a patch.
type Operation struct {
	name  string
	path  string
	from  string // for move and copy
	value string // JSON text, for add, replace and test
}

// Parse parses the operations of a patch. It returns a 400 error if the body is not a list of
// operations (F7), and a 413 error if there are too many (F11).
func Parse(p *tree.Node) ([]Operation, error) {
	if p.Form() != tree.Array {
		return nil, malformed("the patch must be an array of operations, not %s", p.Form())
	}
	if _, more := tree.Items(p.Text, MaxOperations); more {
		return nil, limit.Reached(limit.PatchOperations,
			status.NewPatchTooLarge(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d", MaxOperations)))
	}
	items := p.Items()
	list := make([]Operation, len(items))
	for i := range items {
		var err error
		if list[i], err = operation(&items[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func operation(n *tree.Node) (Operation, error) {
	var o Operation
	if n.Form() != tree.Object {
		return o, malformed("an operation must be an object, not %s", n.Form())
	}
	var ok bool
	if o.name, ok = text(n, "op"); !ok {
		return o, malformed("operation without op: %.200s", n.Text)
	}
	if o.path, ok = text(n, "path"); !ok {
		return o, malformed("operation without path: %.200s", n.Text)
	}
	switch o.name {
	case "add", "replace":
		value := n.Get("value")
		if value == nil {
			return o, malformed("operation without value: %.200s", n.Text)
		}
		o.value = value.Text
	case "test": // a missing value is null, as in Kubernetes
		o.value = "null"
		if value := n.Get("value"); value != nil {
			o.value = value.Text
		}
	case "move", "copy":
		if o.from, ok = text(n, "from"); !ok {
			return o, malformed("operation without from: %.200s", n.Text)
		}
	case "remove":
	default:
		return o, malformed("unknown operation: %.200s", n.Text)
	}
	return o, nil
}

func text(n *tree.Node, name string) (string, bool) {
	value := n.Get(name)
	if value == nil || value.Form() != tree.String {
		return "", false
	}
	return value.Unquote(), true
}

func malformed(format string, args ...any) error {
	return status.NewBadRequest("error decoding patch: " + fmt.Sprintf(format, args...))
}
