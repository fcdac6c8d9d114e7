package reference_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"quorate/apiserver/objects/schema"
)

// generator generates objects, changed objects and patches. It uses few names, so that patches
// refer to existing members.
type generator struct {
	t *rapid.T
	// ordered means that each list that merges comes with its `$setElementOrder`.
	ordered bool
}

var words = []string{"a", "b", "c", "d", "e"}

func (g generator) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(g.t, "chance") < percent
}

func (g generator) word() string { return rapid.SampledFrom(words).Draw(g.t, "word") }

// some returns distinct words in random order.
func (g generator) some(atMost int) []string {
	shuffled := rapid.Permutation(words).Draw(g.t, "words")
	return shuffled[:rapid.IntRange(0, atMost).Draw(g.t, "count")]
}

// value generates a value of a type, or nil if the value would be empty.
func (g generator) value(p pair, depth int) any {
	switch p.ours.Form {
	case schema.FormMessage:
		return g.object(p, depth)
	case schema.FormMap:
		out := map[string]any{}
		for _, name := range g.some(3) {
			out[name] = g.value(p.below(), depth+1)
		}
		return orNil(out)
	case schema.FormList:
		var out []any
		for range rapid.IntRange(0, 2).Draw(g.t, "items") {
			if item := g.value(p.below(), depth+1); item != nil {
				out = append(out, item)
			}
		}
		if out == nil {
			return nil
		}
		return out
	case schema.FormBool:
		return g.chance(50)
	case schema.FormInt32, schema.FormInt64, schema.FormUint32, schema.FormDouble:
		return rapid.IntRange(1, 3).Draw(g.t, "number")
	}
	return g.word()
}

func orNil(m map[string]any) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// maxDepth limits generated objects. The lists of a pod template's containers are within the limit.
const maxDepth = 9

func (g generator) object(p pair, depth int) any {
	out := map[string]any{}
	for _, f := range g.choose(p.fields(), depth) {
		if v := g.field(f, depth); v != nil {
			out[f.name] = v
		}
	}
	return orNil(out)
}

// choose picks fields at random, and with a higher probability those that merge or contain other
// fields.
func (g generator) choose(fields []common, depth int) []common {
	var out []common
	for _, f := range fields {
		percent := 10
		switch {
		case depth > maxDepth:
			percent = 0
		case depth < 2 || f.merge:
			percent = 70
		case f.name == "template" || f.name == "spec":
			percent = 90
		}
		if g.chance(percent) {
			out = append(out, f)
		}
	}
	return out
}

// field generates the value of a field. The items of lists that merge differ in their keys.
func (g generator) field(f common, depth int) any {
	if !f.merge {
		return g.value(f.pair, depth+1)
	}
	var out []any
	for _, key := range g.some(3) {
		out = append(out, g.item(f, key, depth))
	}
	if out == nil {
		return nil
	}
	return out
}

// item generates an item of a list that merges.
func (g generator) item(f common, key string, depth int) any {
	if f.key == "" {
		return key
	}
	item, _ := g.value(f.below(), depth+1).(map[string]any)
	if item == nil {
		item = map[string]any{}
	}
	item[f.key] = f.keyValue(key)
	return item
}

// keyValue returns a merge key for a word: a number for ports.
func (f common) keyValue(word string) any {
	if f.key == "containerPort" {
		return slices.Index(words, word) + 1
	}
	return word
}

func (f common) keyWord(item any) string {
	if f.key == "" {
		return item.(string)
	}
	if n, ok := item.(map[string]any)[f.key].(int); ok {
		return words[n-1]
	}
	return fmt.Sprint(item.(map[string]any)[f.key])
}

// change returns a changed copy of an object.
func (g generator) change(p pair, live any, depth int) any {
	object, ok := live.(map[string]any)
	if !ok || p.ours.Form != schema.FormMessage {
		return g.value(p, depth)
	}
	out := map[string]any{}
	for _, f := range p.fields() {
		v, have := object[f.name]
		switch {
		case have && g.chance(30):
			out[f.name] = v
		case have && f.merge:
			out[f.name] = g.changeList(f, v.([]any), depth)
		case have && g.chance(80):
			out[f.name] = g.change(f.pair, v, depth+1)
		case !have && depth < maxDepth && g.chance(10):
			out[f.name] = g.field(f, depth)
		}
		if out[f.name] == nil {
			delete(out, f.name)
		}
	}
	return orNil(out)
}

// changeList removes, changes, adds and moves items.
func (g generator) changeList(f common, live []any, depth int) any {
	byKey := map[string]any{}
	for _, item := range live {
		byKey[f.keyWord(item)] = item
	}
	var out []any
	for _, key := range g.some(4) {
		switch item, have := byKey[key]; {
		case !have:
			out = append(out, g.item(f, key, depth))
		case f.key == "" || g.chance(40):
			out = append(out, item)
		default:
			changed, _ := g.change(f.below(), item, depth+1).(map[string]any)
			if changed == nil {
				changed = map[string]any{}
			}
			changed[f.key] = f.keyValue(key)
			out = append(out, changed)
		}
	}
	if out == nil {
		return nil
	}
	return out
}
