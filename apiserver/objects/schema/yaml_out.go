package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Indent formats JSON for the parameter pretty: two spaces per level and a newline at the end (B6).
func Indent(value []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(2 * len(value))
	if err := json.Indent(&out, value, "", "  "); err != nil {
		return nil, fmt.Errorf("indent JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// ToYAML converts JSON to a YAML document. Members keep their order and numbers their text.
func ToYAML(value []byte) ([]byte, error) {
	w := yamlWriter{scanner: scanner{s: string(value)}, out: make([]byte, 0, len(value)+len(value)/4)}
	if err := w.value(0, false); err != nil {
		return nil, fmt.Errorf("convert JSON to YAML: %w", err)
	}
	if w.space() != 0 || w.pos < len(w.s) {
		return nil, fmt.Errorf("convert JSON to YAML: %w", w.syntax("after top-level value"))
	}
	return w.out, nil
}

// yamlWriter converts JSON to block style YAML. Strings that plain YAML might read differently are
// quoted as in JSON, which YAML accepts.
type yamlWriter struct {
	scanner
	out []byte
}

// value writes a value and a newline. nested means that the line already contains the value's key
// or dash; level is the indentation of the value's members.
func (w *yamlWriter) value(level int, nested bool) error {
	if level > maxDepth {
		return &syntaxError{"exceeded max depth", w.pos}
	}
	switch c := w.space(); c {
	case '{':
		return w.object(level, nested)
	case '[':
		return w.array(level, nested)
	case '"':
		s, err := w.str()
		if err != nil {
			return err
		}
		w.gap(nested)
		w.text(s, level)
	default:
		start := w.pos
		if err := w.skip(level); err != nil {
			return err
		}
		w.gap(nested)
		w.out = append(w.out, w.s[start:w.pos]...)
	}
	w.out = append(w.out, '\n')
	return nil
}

func (w *yamlWriter) gap(nested bool) {
	if nested {
		w.out = append(w.out, ' ')
	}
}

func (w *yamlWriter) object(level int, nested bool) error {
	more, err := w.open('}')
	if err == nil && !more {
		w.gap(nested)
		w.out = append(w.out, "{}\n"...)
		return nil
	}
	inItem := len(w.out) > 0 && w.out[len(w.out)-1] == '-' // the first member follows the dash on its line
	if nested && !inItem {
		w.out = append(w.out, '\n')
	}
	for first := true; more || err != nil; more, err = w.next('}', "after object key:value pair") {
		if err != nil {
			return err
		}
		key, err := w.key()
		if err != nil {
			return err
		}
		if first && inItem {
			w.out = append(w.out, ' ')
		} else {
			w.indent(level)
		}
		first = false
		w.name(key, level)
		below := level + 1
		if w.space() == '[' {
			below = level // list items have the indentation of their key, as Kubernetes writes them
		}
		if err := w.value(below, true); err != nil {
			return err
		}
	}
	return nil
}

// maxSimpleKey is the maximum length of a key that is written as "key: value". YAML allows 1024
// bytes; longer keys need the form "? key".
const maxSimpleKey = 1000

// name writes a key and its colon, with a preceding "? " if the key is long.
func (w *yamlWriter) name(key string, level int) {
	start := len(w.out)
	w.word(key)
	if len(w.out)-start > maxSimpleKey {
		w.out = slices.Insert(w.out, start, '?', ' ')
		w.out = append(w.out, '\n')
		w.indent(level)
	}
	w.out = append(w.out, ':')
}

func (w *yamlWriter) array(level int, nested bool) error {
	more, err := w.open(']')
	if err == nil && !more {
		w.gap(nested)
		w.out = append(w.out, "[]\n"...)
		return nil
	}
	inItem := len(w.out) > 0 && w.out[len(w.out)-1] == '-'
	if nested && !inItem {
		w.out = append(w.out, '\n')
	}
	for first := true; more || err != nil; more, err = w.next(']', "after array element") {
		if err != nil {
			return err
		}
		if first && inItem {
			w.out = append(w.out, ' ')
		} else {
			w.indent(level)
		}
		first = false
		w.out = append(w.out, '-')
		if err := w.value(level+1, true); err != nil {
			return err
		}
	}
	return nil
}

func (w *yamlWriter) indent(level int) {
	for range level {
		w.out = append(w.out, ' ', ' ')
	}
}

// text writes a string value: a block if it has several lines, else a word.
func (w *yamlWriter) text(s string, level int) {
	if !isBlock(s) {
		w.word(s)
		return
	}
	w.out = append(w.out, '|')
	body := strings.TrimSuffix(s, "\n")
	switch {
	case len(body) == len(s):
		w.out = append(w.out, '-')
	case strings.HasSuffix(body, "\n"):
		w.out = append(w.out, '+')
		body = strings.TrimSuffix(s, "\n")
	}
	for line := range strings.SplitSeq(body, "\n") {
		w.out = append(w.out, '\n')
		if line != "" {
			w.indent(max(level, 1))
			w.out = append(w.out, line...)
		}
	}
}

// isBlock reports whether a string of several lines can be written as a literal block and read back
// unchanged.
func isBlock(s string) bool {
	if !strings.Contains(strings.TrimRight(s, "\n"), "\n") || s[0] == ' ' || s[0] == '\t' || s[0] == '\n' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '\n' && c != '\t' && !plainByte[c] && c != '"' && c != '\\' {
			return false
		}
	}
	return !strings.Contains(s, " \n") && !strings.HasSuffix(s, " ")
}

// word writes a string on one line. It quotes the string unless YAML reads it back unchanged.
func (w *yamlWriter) word(s string) {
	if isPlain(s) && !looksSpecial(s) {
		w.out = append(w.out, s...)
		return
	}
	w.out = appendYAMLString(w.out, s)
}

// appendYAMLString writes a quoted string: JSON's, with additional escapes for characters that YAML
// does not accept.
func appendYAMLString(out []byte, s string) []byte {
	start := len(out)
	out = AppendString(out, s)
	if !strings.ContainsFunc(s, unprintable) {
		return out
	}
	text := string(out[start:])
	out = out[:start]
	for _, r := range text {
		if unprintable(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// unprintable reports whether r is a character beyond ASCII that YAML rejects or treats as the end
// of a line.
func unprintable(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// isPlain reports whether s needs no quotes: it begins with a letter or slash, so it is neither a
// number nor a date, and it contains no character with a meaning in YAML.
func isPlain(s string) bool {
	if s == "" || s[0] != '/' && (!isASCIIAlnum(s[0]) || s[0] <= '9') {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case isASCIIAlnum(c), c == '-', c == '_', c == '.', c == '/', c == '+', c == '@', c == '=', c == '(', c == ')', c == ';':
		case c == ',', c == '\'', c == '"':
			if i == len(s)-1 {
				return false
			}
		case c == ':':
			if i == len(s)-1 || s[i+1] == ' ' {
				return false
			}
		case c == ' ':
			if i == len(s)-1 {
				return false
			}
		default:
			return false
		}
	}
	return true
}
