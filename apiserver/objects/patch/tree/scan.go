package tree

import (
	"bytes"
	"encoding/json"
	"strings"
)

// at returns the byte at position i of s, or 0 beyond its end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// Space returns the position after the white space that begins at i.
func Space(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// Skip returns the position after the value that begins at i.
func Skip(s string, i int) int {
	switch at(s, i) {
	case '"':
		return skipString(s, i)
	case '{', '[':
		return skipNested(s, i)
	}
	for i < len(s) {
		switch s[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// skipString returns the position after the string whose opening quote is at i.
func skipString(s string, i int) int {
	for i++; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			break
		}
		i += n
		escapes := 0
		for s[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return len(s)
}

func skipNested(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = skipString(s, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// Unquote returns the string that a JSON string represents.
func Unquote(text string) string {
	if len(text) < 2 {
		return ""
	}
	if strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	var name string
	// If text is not a valid string, name stays empty.
	_ = json.Unmarshal([]byte(text), &name)
	return name
}

// Quote returns s as a JSON string.
func Quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// Encoding a string cannot fail.
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// Members iterates over the members of an object:
//
//	for m := OpenMembers(doc, 0); m.Next(); m.Past(Skip(doc, m.Value)) { ... }
type Members struct {
	Name  string // of the member
	Start int    // position of its name, including the quote
	Value int    // position of its value

	text   string
	keyEnd int
	pos    int // position of the next member or the closing brace
}

// OpenMembers returns an iterator over the object whose opening brace is at position i.
func OpenMembers(text string, i int) Members {
	return Members{text: text, pos: Space(text, i+1)}
}

// Next advances to the next member and reports whether there is one. Past must be called between
// two calls of Next.
func (m *Members) Next() bool {
	if at(m.text, m.pos) != '"' {
		return false
	}
	m.Start = m.pos
	m.keyEnd = skipString(m.text, m.pos)
	m.Name = Unquote(m.Key())
	m.Value = Space(m.text, min(Space(m.text, m.keyEnd)+1, len(m.text))) // after the colon
	return true
}

// Key returns the member's name as in the text, with quotes.
func (m *Members) Key() string { return m.text[m.Start:m.keyEnd] }

// Past sets the position after the current member's value.
func (m *Members) Past(end int) {
	m.pos = Space(m.text, end)
	if at(m.text, m.pos) == ',' {
		m.pos = Space(m.text, m.pos+1)
	}
}

// End returns the position after the object. It is valid after Next has returned false.
func (m *Members) End() int { return min(m.pos+1, len(m.text)) }

// Lookup returns the text of the member of an object with a name. It returns "" if text is not an
// object or has no such member.
func Lookup(text, name string) string {
	if at(text, 0) != '{' {
		return ""
	}
	found := ""
	for m := OpenMembers(text, 0); m.Next(); {
		end := Skip(text, m.Value)
		if m.Name == name {
			found = text[m.Value:end]
		}
		m.Past(end)
	}
	return found
}

// Items returns the texts of the first limit items of an array. more reports whether there are
// others.
func Items(text string, limit int) (items []string, more bool) {
	i := Space(text, 1)
	for i < len(text) && text[i] != ']' {
		if len(items) >= limit {
			return items, true
		}
		end := Skip(text, i)
		items = append(items, text[i:end])
		i = Space(text, end)
		if at(text, i) != ',' {
			break
		}
		i = Space(text, i+1)
	}
	return items, false
}
