package structural

import "unicode/utf8"

// appendTo appends the canonical JSON text of a value.
func (v *value) appendTo(out []byte) []byte {
	switch v.kind {
	case text:
		return appendString(out, v.text)
	case array:
		out = append(out, '[')
		for i := range v.kids {
			out = append(v.kids[i].appendTo(out), ',')
		}
		return closed(out, ']')
	case object:
		out = append(out, '{')
		for i := range v.kids {
			out = append(appendString(out, v.kids[i].name), ':')
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

const hexDigits = "0123456789abcdef"

// appendString appends s, which is valid UTF-8, as a JSON string. It escapes what package schema
// escapes: what JSON requires, and U+2028 and U+2029, which end a line in JavaScript.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == '\u2028' || r == '\u2029' {
				out = append(out, s[start:i]...)
				out = append(out, '\\', 'u', '2', '0', '2', hexDigits[r&0xf])
				start = i + size
			}
			i += size
			continue
		}
		out = appendEscape(append(out, s[start:i]...), c)
		i++
		start = i
	}
	return append(append(out, s[start:]...), '"')
}

func appendEscape(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
