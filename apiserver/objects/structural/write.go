package structural

import "quorate/apiserver/objects/schema"

// appendTo appends the canonical JSON text of a value.
func (v *value) appendTo(out []byte) []byte {
	switch v.kind {
	case text:
		return schema.AppendString(out, v.text)
	case array:
		out = append(out, '[')
		for i := range v.kids {
			out = append(v.kids[i].appendTo(out), ',')
		}
		return closed(out, ']')
	case object:
		out = append(out, '{')
		for i := range v.kids {
			out = append(schema.AppendString(out, v.kids[i].name), ':')
			out = append(v.kids[i].appendTo(out), ',')
		}
		return closed(out, '}')
	default:
		return append(out, v.text...)
	}
}

// closed ends an object or array: the bracket replaces the comma after the last member.
func closed(out []byte, bracket byte) []byte {
	if last := len(out) - 1; out[last] == ',' {
		out[last] = bracket
		return out
	}
	return append(out, bracket)
}
