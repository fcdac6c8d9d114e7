package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"quorate/apiserver/limit"
)

// maxDepth limits the nesting of a body.
const maxDepth = 200

// scanner reads JSON as strictly as encoding/json does (RFC 8259). It replaces invalid UTF-8.
// Strings without escapes are substrings of the text.
type scanner struct {
	s   string
	pos int

	reused    bool   // strings may share memory that is reused for the next document
	unescaped []byte // the buffer that these strings share
}

// space skips white space and returns the next byte, or 0 at the end.
func (d *scanner) space() byte {
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

// syntax returns the error for the byte at the current position.
func (d *scanner) syntax(where string) error {
	if d.pos >= len(d.s) {
		return &syntaxError{"unexpected end of JSON input", d.pos}
	}
	return &syntaxError{"invalid character " + quoteByte(d.s[d.pos]) + " " + where, d.pos}
}

func quoteByte(c byte) string {
	switch c {
	case '\'':
		return `'\''`
	case '"':
		return `'"'`
	}
	s := strconv.Quote(string(rune(c)))
	return "'" + s[1:len(s)-1] + "'"
}

// literal reads word, which is true, false or null.
func (d *scanner) literal(word string) error {
	if strings.HasPrefix(d.s[d.pos:], word) {
		d.pos += len(word)
		return nil
	}
	for i := 0; i < len(word) && d.pos < len(d.s) && d.s[d.pos] == word[i]; i++ {
		d.pos++
	}
	return d.syntax("in literal " + word)
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
func (d *scanner) str() (string, error) {
	start := d.pos + 1
	for i := start; i < len(d.s); i++ {
		c := d.s[i]
		if plainByte[c] {
			continue
		}
		if c == '"' {
			d.pos = i + 1
			return d.s[start:i], nil
		}
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(d.s[i:]); r != utf8.RuneError || size > 1 {
				i += size - 1
				continue
			}
		}
		return d.slowStr(start, i)
	}
	d.pos = len(d.s)
	return "", d.syntax("")
}

// slowStr reads a string that contains escapes or invalid UTF-8. The string begins at start; i is
// the position of the first such byte.
func (d *scanner) slowStr(start, i int) (string, error) {
	hint := i - start + max(0, strings.IndexByte(d.s[i:], '"')) // exact if the string contains no escaped quote
	base := len(d.unescaped)
	out := append(slices.Grow(d.unescaped, hint), d.s[start:i]...)
	for i < len(d.s) {
		switch c := d.s[i]; {
		case c == '"':
			d.pos = i + 1
			return d.takeUnescaped(out, base), nil
		case c == '\\':
			var err error
			if out, i, err = d.escape(out, i); err != nil {
				return "", err
			}
		case c < ' ':
			d.pos = i
			return "", d.syntax("in string literal")
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(d.s[i:])
			out = utf8.AppendRune(out, r)
			i += size
		}
	}
	d.pos = len(d.s)
	return "", d.syntax("")
}

// takeUnescaped returns the part of out beyond base as a string: a copy, or memory of the shared
// buffer if that is reused.
func (d *scanner) takeUnescaped(out []byte, base int) string {
	if !d.reused {
		return string(out)
	}
	d.unescaped = out
	return unsafe.String(unsafe.SliceData(out[base:]), len(out)-base)
}

// escape appends the character of the escape sequence at i and returns the position after it.
func (d *scanner) escape(out []byte, i int) ([]byte, int, error) {
	if i+1 >= len(d.s) {
		d.pos = len(d.s)
		return nil, 0, d.syntax("")
	}
	switch c := d.s[i+1]; c {
	case '"', '\\', '/':
		out = append(out, c)
	case 'b':
		out = append(out, '\b')
	case 'f':
		out = append(out, '\f')
	case 'n':
		out = append(out, '\n')
	case 'r':
		out = append(out, '\r')
	case 't':
		out = append(out, '\t')
	case 'u':
		return d.unicode(out, i)
	default:
		d.pos = i + 1
		return nil, 0, d.syntax("in string escape code")
	}
	return out, i + 2, nil
}

// unicode appends the rune of the \u escape at i, combined with the low surrogate that follows if
// it is a high one.
func (d *scanner) unicode(out []byte, i int) ([]byte, int, error) {
	r, bad := hex4(d.s, i+2)
	if bad >= 0 {
		d.pos = bad
		return nil, 0, d.syntax(`in \u hexadecimal character escape`)
	}
	i += 6
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), i, nil
	}
	if strings.HasPrefix(d.s[i:], `\u`) {
		if r2, bad := hex4(d.s, i+2); bad < 0 {
			if both := utf16.DecodeRune(r, r2); both != utf8.RuneError {
				return utf8.AppendRune(out, both), i + 6, nil
			}
		}
	}
	return utf8.AppendRune(out, utf8.RuneError), i, nil
}

// hex4 parses four hexadecimal digits at i. bad is the position of the first byte that is not one,
// or -1.
func hex4(s string, i int) (r rune, bad int) {
	for end := i + 4; i < end; i++ {
		if i >= len(s) {
			return 0, len(s)
		}
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, i
		}
		r = r<<4 | rune(c)
	}
	return r, -1
}

// number reads a number and returns its text. whole reports that it has neither a fraction nor an
// exponent.
func (d *scanner) number() (text string, whole bool, err error) {
	start := d.pos
	if d.s[d.pos] == '-' {
		d.pos++
	}
	switch {
	case d.pos < len(d.s) && d.s[d.pos] == '0':
		d.pos++
	case !d.digits():
		return "", false, d.syntax("in numeric literal")
	}
	whole = true
	if d.pos < len(d.s) && d.s[d.pos] == '.' {
		whole = false
		d.pos++
		if !d.digits() {
			return "", false, d.syntax("after decimal point in numeric literal")
		}
	}
	if d.pos < len(d.s) && (d.s[d.pos] == 'e' || d.s[d.pos] == 'E') {
		whole = false
		d.pos++
		if d.pos < len(d.s) && (d.s[d.pos] == '+' || d.s[d.pos] == '-') {
			d.pos++
		}
		if !d.digits() {
			return "", false, d.syntax("in exponent of numeric literal")
		}
	}
	return d.s[start:d.pos], whole, nil
}

func (d *scanner) digits() bool {
	start := d.pos
	for d.pos < len(d.s) && d.s[d.pos] >= '0' && d.s[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}

// tooDeep returns the error for a value that is nested more deeply than maxDepth.
func (d *scanner) tooDeep() error {
	return limit.Reached(limit.Nesting, &syntaxError{"exceeded max depth", d.pos})
}

// skip reads a value of any type and discards it.
func (d *scanner) skip(depth int) error {
	if depth > maxDepth {
		return d.tooDeep()
	}
	switch c := d.space(); {
	case c == '{':
		return d.skipObject(depth)
	case c == '[':
		return d.skipArray(depth)
	case c == '"':
		_, err := d.str()
		return err
	case c == 't':
		return d.literal("true")
	case c == 'f':
		return d.literal("false")
	case c == 'n':
		return d.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		_, _, err := d.number()
		return err
	}
	return d.syntax("looking for beginning of value")
}

func (d *scanner) skipObject(depth int) error {
	for more, err := d.open('}'); more || err != nil; more, err = d.next('}', "after object key:value pair") {
		if err != nil {
			return err
		}
		if _, err := d.key(); err != nil {
			return err
		}
		if err := d.skip(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (d *scanner) skipArray(depth int) error {
	for more, err := d.open(']'); more || err != nil; more, err = d.next(']', "after array element") {
		if err != nil {
			return err
		}
		if err := d.skip(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// open reads the opening bracket. more reports whether a member or item follows; if none does, open
// also reads the closing bracket.
func (d *scanner) open(closing byte) (more bool, err error) {
	d.pos++
	if d.space() == closing {
		d.pos++
		return false, nil
	}
	return true, nil
}

// next reads the comma before another member or item, or the closing bracket.
func (d *scanner) next(closing byte, where string) (more bool, err error) {
	switch d.space() {
	case ',':
		d.pos++
		return true, nil
	case closing:
		d.pos++
		return false, nil
	}
	return false, d.syntax(where)
}

// key reads the name of a member and its colon.
func (d *scanner) key() (string, error) {
	if d.space() != '"' {
		return "", d.syntax("looking for beginning of object key string")
	}
	key, err := d.str()
	if err != nil {
		return "", err
	}
	if d.space() != ':' {
		return "", d.syntax("after object key")
	}
	d.pos++
	return key, nil
}
