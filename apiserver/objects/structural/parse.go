package structural

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth limits the nesting of objects and schemas, as it does for all bodies.
const maxDepth = 200

// SyntaxError reports a text that is not JSON, or nested too deeply.
type SyntaxError struct {
	Message string
	Offset  int
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s (offset %d)", e.Message, e.Offset) }

// parser reads JSON texts (RFC 8259). Strings without escapes are substrings of the text.
type parser struct {
	s     string
	pos   int
	stack []member // of the arrays and objects being read, the innermost last
	arena []member // where complete arrays and objects are moved to
}

// Limits of the size of a chunk of the arena. Each is twice as large as the one before it.
const (
	firstStack = 16
	firstChunk = 16
	maxChunk   = 512
)

// parse reads a text that is one JSON value.
func parse(s string) (value, error) {
	p := parser{s: s, stack: make([]member, 0, firstStack)}
	v, err := p.value(0)
	if err != nil {
		return value{}, err
	}
	if p.space(); p.pos < len(p.s) {
		return value{}, p.fail("invalid character after top-level value")
	}
	return v, nil
}

func (p *parser) fail(message string) error {
	if p.pos >= len(p.s) {
		message = "unexpected end of JSON input"
	}
	return &SyntaxError{message, p.pos}
}

// space skips white space and returns the next byte, or 0 at the end.
func (p *parser) space() byte {
	for ; p.pos < len(p.s); p.pos++ {
		switch c := p.s[p.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *parser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, &SyntaxError{"exceeded max depth", p.pos}
	}
	switch c := p.space(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return value{kind: text, text: s}, err
	case c == 't':
		return p.literal("true", boolean)
	case c == 'f':
		return p.literal("false", boolean)
	case c == 'n':
		return p.literal("null", null)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return value{}, p.fail("invalid character looking for beginning of value")
}

func (p *parser) literal(word string, k kind) (value, error) {
	if !strings.HasPrefix(p.s[p.pos:], word) {
		return value{}, p.fail("invalid character in literal " + word)
	}
	p.pos += len(word)
	return value{kind: k, text: word}, nil
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.s) && p.s[p.pos] >= '0' && p.s[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}

// is reports whether the next byte is one of two, and reads it if so.
func (p *parser) is(a, b byte) bool {
	if p.pos < len(p.s) && (p.s[p.pos] == a || p.s[p.pos] == b) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) number() (value, error) {
	const message = "invalid character in numeric literal"
	start := p.pos
	p.is('-', '-')
	if !p.is('0', '0') && !p.digits() {
		return value{}, p.fail(message)
	}
	if p.is('.', '.') && !p.digits() {
		return value{}, p.fail(message)
	}
	if p.is('e', 'E') {
		p.is('+', '-')
		if !p.digits() {
			return value{}, p.fail(message)
		}
	}
	return value{kind: number, text: p.s[start:p.pos]}, nil
}

func (p *parser) array(depth int) (value, error) {
	base := len(p.stack)
	p.pos++
	if p.space() == ']' {
		p.pos++
		return value{kind: array}, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		p.stack = append(p.stack, member{value: item})
		switch p.space() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return value{kind: array, kids: p.take(base)}, nil
		default:
			return value{}, p.fail("invalid character after array element")
		}
	}
}

func (p *parser) object(depth int) (value, error) {
	base, sorted := len(p.stack), true
	p.pos++
	if p.space() == '}' {
		p.pos++
		return value{kind: object}, nil
	}
	for {
		name, err := p.name()
		if err != nil {
			return value{}, err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		sorted = sorted && (len(p.stack) == base || p.stack[len(p.stack)-1].name < name)
		p.stack = append(p.stack, member{name, v})
		switch p.space() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			kids := p.take(base)
			if !sorted {
				kids = sortMembers(kids)
			}
			return value{kind: object, kids: kids}, nil
		default:
			return value{}, p.fail("invalid character after object key:value pair")
		}
	}
}

// name reads the name of a member and its colon.
func (p *parser) name() (string, error) {
	if p.space() != '"' {
		return "", p.fail("invalid character looking for beginning of object key string")
	}
	name, err := p.str()
	if err != nil {
		return "", err
	}
	if p.space() != ':' {
		return "", p.fail("invalid character after object key")
	}
	p.pos++
	return name, nil
}

// sortMembers sorts members by name. Of members with equal names it keeps the last.
func sortMembers(kids []member) []member {
	slices.SortStableFunc(kids, func(a, b member) int { return strings.Compare(a.name, b.name) })
	out := kids[:0]
	for i := range kids {
		if n := len(out); n > 0 && out[n-1].name == kids[i].name {
			out[n-1] = kids[i]
			continue
		}
		out = append(out, kids[i])
	}
	return out
}

// take moves the members beyond base from the stack to the arena.
func (p *parser) take(base int) []member {
	n := len(p.stack) - base
	if n > cap(p.arena)-len(p.arena) {
		p.arena = make([]member, 0, max(n, min(maxChunk, max(firstChunk, 2*cap(p.arena)))))
	}
	at := len(p.arena)
	p.arena = append(p.arena, p.stack[base:]...)
	p.stack = p.stack[:base]
	return p.arena[at : at+n : at+n]
}

// plainByte reports for each byte whether it stands for itself in a string. Bytes beyond ASCII are
// false, because their UTF-8 has to be checked.
var plainByte = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// str reads a string. The next byte must be its opening quote.
func (p *parser) str() (string, error) {
	start := p.pos + 1
	for i := start; i < len(p.s); i++ {
		c := p.s[i]
		if plainByte[c] {
			continue
		}
		if c == '"' {
			p.pos = i + 1
			return p.s[start:i], nil
		}
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(p.s[i:]); r != utf8.RuneError || size > 1 {
				i += size - 1
				continue
			}
		}
		return p.unescaped(start, i)
	}
	p.pos = len(p.s)
	return "", p.fail("")
}

// unescaped reads a string that begins at start, from its first escape or invalid UTF-8 at i on.
// It replaces invalid UTF-8.
func (p *parser) unescaped(start, i int) (string, error) {
	out := append([]byte(nil), p.s[start:i]...)
	for i < len(p.s) {
		switch c := p.s[i]; {
		case c == '"':
			p.pos = i + 1
			return string(out), nil
		case c == '\\':
			r, size := escape(p.s[i:])
			if size == 0 {
				p.pos = i + 1
				return "", p.fail("invalid character in string escape code")
			}
			out = utf8.AppendRune(out, r)
			i += size
		case c < ' ':
			p.pos = i
			return "", p.fail("invalid character in string literal")
		default:
			r, size := utf8.DecodeRuneInString(p.s[i:])
			out = utf8.AppendRune(out, r)
			i += size
		}
	}
	p.pos = len(p.s)
	return "", p.fail("")
}

// escape returns the character of the escape sequence that s begins with and the length of the
// sequence, or 0 if it is invalid.
func escape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := unicodeEscape(s)
		if !ok {
			return 0, 0
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if low, ok := unicodeEscape(s[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}

// unicodeEscape returns the code unit of the \u escape that s begins with.
func unicodeEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
