package h2

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
)

// fields is a set of the header fields that the server adds if the handler has not set them.
type fields uint8

const (
	fieldType fields = 1 << iota
	fieldLength
	fieldDate
	fieldEncoding
)

func (f fields) has(which fields) bool { return f&which != 0 }

// appendStatus encodes :status, common values as indexes of the static table (RFC 7541 appendix A).
func appendStatus(b []byte, code int) []byte {
	switch code {
	case http.StatusOK:
		return append(b, 0x88)
	case http.StatusNoContent:
		return append(b, 0x89)
	case http.StatusNotModified:
		return append(b, 0x8b)
	case http.StatusBadRequest:
		return append(b, 0x8c)
	case http.StatusNotFound:
		return append(b, 0x8d)
	}
	b = append(b, 0x08, 3)
	return strconv.AppendInt(b, int64(code), 10)
}

// appendFields encodes a header as literals without indexing, and returns which of the fields that
// the server may add it contains. It skips fields that a response must not have.
func appendFields(b []byte, h http.Header, status int) ([]byte, fields) {
	var known fields
	for name, values := range h {
		switch name {
		case "Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Trailer":
			continue // of HTTP/1 only, or not supported
		case "Content-Type":
			known |= fieldType
		case "Date":
			known |= fieldDate
		case "Content-Encoding":
			known |= fieldEncoding
		case "Content-Length":
			if _, ok := lengthOf(h); !ok || !bodyAllowed(status) && status != http.StatusNotModified {
				continue
			}
			known |= fieldLength
			values = values[:1]
		}
		for _, v := range values {
			b = appendField(b, name, v)
		}
	}
	return b, known
}

// appendField encodes one field. It skips a field with an invalid name and replaces invalid
// characters in the value.
func appendField(b []byte, name, value string) []byte {
	prefix, ok := encodedNames[name]
	if ok {
		b = append(b, prefix...)
	} else {
		if !httpguts.ValidHeaderFieldName(name) {
			return b
		}
		b = append(b, 0)
		b = appendString(b, strings.ToLower(name))
	}
	if httpguts.ValidHeaderFieldValue(value) {
		return appendString(b, value)
	}
	return appendString(b, strings.Map(printable, value))
}

// printable replaces control characters, which no value may contain, with a space. net/http does so
// with line ends.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return ' '
	}
	return r
}

func appendString(b []byte, s string) []byte {
	b = appendInteger(b, 0, 7, len(s))
	return append(b, s...)
}

// appendInteger encodes n with a prefix of the given number of bits (RFC 7541 §5.1). first holds
// the bits before the prefix.
func appendInteger(b []byte, first byte, bits, n int) []byte {
	most := 1<<bits - 1
	if n < most {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(most))
	for n -= most; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	return append(b, byte(n))
}

// appendLength encodes Content-Length.
func appendLength(b []byte, n int) []byte {
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], int64(n), 10)
	b = append(b, encodedNames["Content-Length"]...)
	b = append(b, byte(len(d)))
	return append(b, d...)
}

// dates caches the encoded Date field of the current second.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	field  []byte
}

// now returns the encoded Date field.
func (d *dates) now() []byte {
	now := time.Now()
	if last := d.last.Load(); last != nil && last.second == now.Unix() {
		return last.field
	}
	next := &date{now.Unix(), appendField(nil, "Date", now.UTC().Format(http.TimeFormat))}
	d.last.Store(next)
	return next.field
}

// commonFields returns common field names with their index in the static table, or 0 if they are
// not in it.
func commonFields() map[string]int {
	return map[string]int{
		"accept": 19, "accept-charset": 15, "accept-encoding": 16, "accept-language": 17, "accept-ranges": 18, "age": 21, "allow": 22,
		"audit-id": 0, "authorization": 23, "cache-control": 24, "connection": 0, "content-disposition": 25, "content-encoding": 26,
		"content-language": 27, "content-length": 28, "content-location": 29, "content-range": 30, "content-type": 31, "cookie": 32,
		"date": 33, "etag": 34, "expect": 35, "expires": 36, "forwarded": 0, "host": 38, "if-match": 39, "if-modified-since": 40,
		"if-none-match": 41, "impersonate-group": 0, "impersonate-user": 0, "keep-alive": 0, "last-modified": 44, "link": 45,
		"location": 46, "origin": 0, "proxy-connection": 0, "referer": 51, "retry-after": 53, "server": 54, "set-cookie": 55,
		"strict-transport-security": 56, "te": 0, "trailer": 0, "transfer-encoding": 57, "upgrade": 0, "user-agent": 58, "vary": 59,
		"warning": 0, "www-authenticate": 61, "x-content-type-options": 0, "x-forwarded-for": 0, "x-request-id": 0,
	}
}

// canonicalNames maps field names of HTTP/2 to those of http.Header, and encodedNames maps the
// latter to their encoding.
var (
	canonicalNames = canonicalTable(commonFields())
	encodedNames   = encodedTable(commonFields())
)

func canonicalTable(common map[string]int) map[string]string {
	m := make(map[string]string, len(common))
	for name := range common {
		m[name] = http.CanonicalHeaderKey(name)
	}
	return m
}

func encodedTable(common map[string]int) map[string][]byte {
	m := make(map[string][]byte, len(common))
	for name, index := range common {
		b := appendInteger(nil, 0, 4, index)
		if index == 0 {
			b = appendString(b, name)
		}
		m[http.CanonicalHeaderKey(name)] = b
	}
	return m
}
