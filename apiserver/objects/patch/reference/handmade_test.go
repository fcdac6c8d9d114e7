package reference_test

import (
	"slices"

	"quorate/apiserver/objects/schema"
)

// patch generates a patch of a live object as a person would write it, with directives, some of
// them invalid. It avoids the differences that package reference lists.
func (g generator) patch(p pair, live map[string]any, depth int) map[string]any {
	out := map[string]any{}
	switch {
	case depth > 0 && g.chance(3):
		return map[string]any{"$patch": "delete"}
	case depth > 0 && g.chance(3):
		replacement, _ := g.value(p, depth).(map[string]any)
		if replacement == nil {
			replacement = map[string]any{}
		}
		replacement["$patch"] = "replace"
		return replacement
	case depth > 0 && g.chance(2):
		return map[string]any{"$patch": "wrong"}
	}
	if p.ours.Form == schema.FormMap {
		for _, name := range g.some(3) {
			out[name] = nil
			if g.chance(70) {
				out[name] = g.value(p.below(), depth+1)
			}
		}
	} else {
		for _, f := range g.choose(p.fields(), depth) {
			g.patchField(out, f, live[f.name], depth)
		}
	}
	if g.chance(10) {
		out["$retainKeys"] = g.retained(out, live)
	}
	return out
}

// retained returns a `$retainKeys` with, in most cases, all members of the patch, and some of the
// live object.
func (g generator) retained(patch, live map[string]any) []any {
	keys := []any{}
	for _, name := range sorted(patch) {
		if name[0] != '$' && g.chance(97) {
			keys = append(keys, name)
		}
	}
	for _, name := range sorted(live) {
		if g.chance(50) {
			keys = append(keys, name)
		}
	}
	return keys
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (g generator) patchField(out map[string]any, f common, live any, depth int) {
	if g.chance(10) {
		out[f.name] = nil
		return
	}
	items, isList := live.([]any)
	object, isObject := live.(map[string]any)
	switch {
	case f.merge && isList:
		g.patchList(out, f, items, depth)
	case isObject:
		out[f.name] = g.patch(f.pair, object, depth+1)
	default:
		if v := g.field(f, depth); v != nil {
			out[f.name] = v
		}
	}
}

// patchList adds the members of a patch that refer to a list that merges.
func (g generator) patchList(out map[string]any, f common, live []any, depth int) {
	byKey := map[string]any{}
	for _, item := range live {
		byKey[f.keyWord(item)] = item
	}
	var patch []any
	var kept []string
	replaced := f.key != "" && g.chance(5)
	for _, key := range g.some(3) {
		item, have := byKey[key]
		switch {
		case f.key == "":
			patch = append(patch, key)
		case g.chance(20):
			patch = append(patch, map[string]any{f.key: f.keyValue(key), "$patch": "delete"})
			continue
		case have && !replaced:
			changed := g.patch(f.below(), item.(map[string]any), depth+1)
			if changed["$patch"] != nil {
				changed = map[string]any{}
			}
			changed[f.key] = f.keyValue(key)
			if retained, ok := changed["$retainKeys"].([]any); ok {
				changed["$retainKeys"] = append(retained, f.key)
			}
			patch = append(patch, changed)
		default:
			patch = append(patch, g.item(f, key, depth))
		}
		kept = append(kept, key)
	}
	if replaced {
		patch = slices.Insert(patch, 0, any(map[string]any{"$patch": "replace"}))
	}
	if f.key != "" && g.chance(3) { // F24
		patch = append(patch, map[string]any{"x": "y"})
	}
	if g.ordered || g.chance(40) {
		out["$setElementOrder/"+f.name] = g.order(f, kept, live)
	}
	if f.key == "" && g.chance(30) {
		var gone []any
		for _, word := range g.some(3) {
			if !slices.Contains(kept, word) {
				gone = append(gone, word)
			}
		}
		if gone != nil {
			out["$deleteFromPrimitiveList/"+f.name] = gone
		}
	}
	if patch != nil {
		out[f.name] = patch
	}
}

// order returns a non-empty order of the patch's items and some others. In rare cases it is
// invalid.
func (g generator) order(f common, kept []string, live []any) []any {
	keys := slices.Clone(kept)
	for _, item := range live {
		if key := f.keyWord(item); !slices.Contains(keys, key) && g.chance(60) {
			at := 0
			if len(keys) > 0 && g.chance(80) {
				at = len(keys)
			}
			keys = slices.Insert(keys, at, key)
		}
	}
	if len(keys) == 0 {
		keys = []string{"e"}
	}
	if len(keys) > 1 && g.chance(5) { // F22
		slices.Reverse(keys)
	}
	out := make([]any, len(keys))
	for i, key := range keys {
		out[i] = key
		if f.key != "" {
			out[i] = map[string]any{f.key: f.keyValue(key)}
		}
	}
	return out
}
