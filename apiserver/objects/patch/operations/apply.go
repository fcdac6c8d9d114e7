package operations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/wire/status"
)

// Limits on the work of one patch (F11), because a few bytes of a patch can require much work.
const (
	maxCopied = 2 * status.MaxObjectBytes // bytes copied by all copy operations together
	maxMoved  = 32 << 20                  // array items shifted by all insertions and removals together
)

// document is a document that is being patched.
type document struct {
	root   *value
	copied int
	moved  int
}

// Append appends the patched document to out. If an operation does not fit the document, it returns
// a 422 error.
func Append(out []byte, text string, list []Operation) ([]byte, error) {
	d := &document{root: &value{text: text[tree.Space(text, 0):]}}
	for i := range list {
		if err := d.apply(&list[i]); err != nil {
			return nil, err
		}
	}
	out, ok := d.root.append(out, 0)
	if !ok {
		return nil, status.NewPatchRefused("the result exceeds max depth")
	}
	return out, nil
}

func (d *document) apply(o *Operation) error {
	path, err := o.pointer(o.path)
	if err != nil {
		return err
	}
	switch o.name {
	case "add":
		return d.add(o, path, &value{text: o.value})
	case "replace":
		return d.replace(o, path, &value{text: o.value})
	case "remove":
		_, err = d.remove(o, path)
		return err
	case "test":
		return d.test(o, path)
	}
	from, err := o.pointer(o.from)
	if err != nil {
		return err
	}
	var v *value
	if o.name == "copy" {
		v, err = d.copy(o, from)
	} else {
		v, err = d.remove(o, from)
	}
	if err != nil {
		return err
	}
	return d.add(o, path, v)
}

// pointer splits a JSON pointer into its unescaped names.
func (o *Operation) pointer(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	if text[0] != '/' || strings.Count(text, "/") > tree.MaxDepth {
		return nil, o.refuse("not a JSON pointer")
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		escapes := strings.Count(token, "~")
		if escapes != strings.Count(token, "~0")+strings.Count(token, "~1") {
			return nil, o.refuse("not a JSON pointer")
		}
		if escapes > 0 {
			tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		}
	}
	return tokens, nil
}

// parent returns the object or array that contains the value at a path. The path must not be that
// of the root.
func (d *document) parent(o *Operation, path []string) (*value, error) {
	v := d.root
	for _, token := range path[:len(path)-1] {
		var err error
		if v, err = o.child(v, token); err != nil {
			return nil, err
		}
	}
	v.open()
	return v, nil
}

// child returns a member or item of v. It is an error if v does not have it.
func (o *Operation) child(v *value, token string) (*value, error) {
	v.open()
	switch {
	case v.object != nil:
		if child := v.object.get(token); child != nil {
			return child, nil
		}
	case v.array != nil:
		i, err := o.index(token, len(v.array.items))
		if err != nil {
			return nil, err
		}
		return v.array.items[i], nil
	}
	return nil, o.refuse("the path does not exist")
}

// index parses an index of an array with n items. A negative index counts from the end, as in
// Kubernetes.
func (o *Operation) index(token string, n int) (int, error) {
	digits := strings.TrimPrefix(token, "-")
	i, err := strconv.Atoi(token)
	if err != nil || digits[0] == '+' || len(digits) > 1 && digits[0] == '0' {
		return 0, o.refuse("not an index of an array")
	}
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return 0, o.refuse("the index is out of range")
	}
	return i, nil
}

func (d *document) add(o *Operation, path []string, v *value) error {
	if len(path) == 0 {
		d.root = v
		return nil
	}
	parent, err := d.parent(o, path)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	switch {
	case parent.object != nil:
		parent.object.set(last, v)
		return nil
	case parent.array != nil:
		items := &parent.array.items
		i := len(*items)
		if last != "-" {
			if i, err = o.index(last, len(*items)+1); err != nil {
				return err
			}
		}
		if err := d.shift(len(*items) - i); err != nil {
			return err
		}
		*items = slices.Insert(*items, i, v)
		return nil
	}
	return o.refuse("the path does not exist")
}

func (d *document) replace(o *Operation, path []string, v *value) error {
	if len(path) == 0 {
		d.root = v
		return nil
	}
	parent, err := d.parent(o, path)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	if _, err := o.child(parent, last); err != nil {
		return err
	}
	if parent.object != nil {
		parent.object.set(last, v)
		return nil
	}
	i, err := o.index(last, len(parent.array.items))
	if err != nil {
		return err
	}
	parent.array.items[i] = v
	return nil
}

// remove removes the value at a path and returns it.
func (d *document) remove(o *Operation, path []string) (*value, error) {
	if len(path) == 0 {
		return nil, o.refuse("the whole document cannot be removed")
	}
	parent, err := d.parent(o, path)
	if err != nil {
		return nil, err
	}
	last := path[len(path)-1]
	v, err := o.child(parent, last)
	if err != nil {
		return nil, err
	}
	if parent.object != nil {
		parent.object.remove(last)
		return v, nil
	}
	items := &parent.array.items
	i, err := o.index(last, len(*items))
	if err != nil {
		return nil, err
	}
	*items = slices.Delete(*items, i, i+1)
	return v, d.shift(len(*items) - i)
}

// shift adds n to the shifted items and returns an error beyond the limit.
func (d *document) shift(n int) error {
	if d.moved += n; d.moved > maxMoved {
		return limit.Reached(limit.PatchMoved,
			status.NewPatchTooLarge("the patch takes too much work: it inserts and removes items of large arrays too often"))
	}
	return nil
}

// copy returns a copy of the value at a path.
func (d *document) copy(o *Operation, from []string) (*value, error) {
	v := d.root
	for _, token := range from {
		var err error
		if v, err = o.child(v, token); err != nil {
			return nil, err
		}
	}
	text, ok := v.append(nil, 0)
	if !ok {
		return nil, o.refuse("the value exceeds max depth")
	}
	if d.copied += len(text); d.copied > maxCopied {
		return nil, limit.Reached(limit.PatchCopied,
			status.NewPatchTooLarge(fmt.Sprintf("the copy operations of the patch exceed %d bytes", maxCopied)))
	}
	return &value{text: string(text)}, nil
}

// test compares the value at a path. A missing member equals null, as in Kubernetes: clients test
// for null to make sure that a member is not set.
func (d *document) test(o *Operation, path []string) error {
	have := d.root
	if len(path) > 0 {
		parent, err := d.parent(o, path)
		if err != nil {
			return err
		}
		last := path[len(path)-1]
		if parent.object != nil && parent.object.get(last) == nil {
			have = &value{text: "null"}
		} else if have, err = o.child(parent, last); err != nil {
			return err
		}
	}
	if !have.equal(&value{text: o.value}, 0) {
		return o.refuse("the test failed")
	}
	return nil
}

// refuse returns the error of an operation that does not fit the document (F8, F9).
func (o *Operation) refuse(why string) error {
	where := strconv.Quote(o.path)
	if o.from != "" {
		where = strconv.Quote(o.from) + " to " + where
	}
	return status.NewPatchRefused(fmt.Sprintf("%s %.400s: %s", o.name, where, why))
}
