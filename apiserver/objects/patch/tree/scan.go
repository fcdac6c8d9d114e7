package tree

import (
	"bytes"
	"encoding/json"
	"strings"
)

// at returns a byte of s; 0 behind its end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// Space returns where white space that begins at i ends.
func Space(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// Skip returns where the value that begins at i ends.
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

// skipString returns where the string ends whose quote is at i.
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

// Unquote returns what a string's text stands for.
func Unquote(text string) string {
	if len(text) < 2 {
		return ""
	}
	if strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	var name string
	// Text that was trusted and is no string is like no other name.
	_ = json.Unmarshal([]byte(text), &name)
	return name
}

// Quote returns the text of a string.
func Quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A string: encoding cannot fail.
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// Members walks through an object of a document.
//
//	for m := OpenMembers(doc, 0); m.Next(); m.Past(Skip(doc, m.Value)) {
type Members struct {
	Name  string // of the member
	Start int    // where its name begins, with the quote
	Value int    // where its value begins

	text   string
	keyEnd int
	pos    int // where the next member, or the closing brace, is
}

// OpenMembers returns a walk through the object whose brace is at i.
func OpenMembers(text string, i int) Members {
	return Members{text: text, pos: Space(text, i+1)}
}

// Next moves to the next member. Past must have been called for the one before.
func (m *Members) Next() bool {
	if at(m.text, m.pos) != '"' {
		return false
	}
	m.Start = m.pos
	m.keyEnd = skipString(m.text, m.pos)
	m.Name = Unquote(m.Key())
	m.Value = Space(m.text, min(Space(m.text, m.keyEnd)+1, len(m.text))) // behind the colon
	return true
}

// Key returns the member's name as it is written.
func (m *Members) Key() string { return m.text[m.Start:m.keyEnd] }

// Past says where the member's value ends.
func (m *Members) Past(end int) {
	m.pos = Space(m.text, end)
	if at(m.text, m.pos) == ',' {
		m.pos = Space(m.text, m.pos+1)
	}
}

// End returns where the object ends, once Next has returned false.
func (m *Members) End() int { return min(m.pos+1, len(m.text)) }

// Lookup returns the text of an object's member; "" when text is no object or has none of that
// name.
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

// Items returns the texts of an array's items; limit bounds how many, and more says that there are
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
