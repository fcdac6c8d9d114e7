package h2

import (
	"errors"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// requestHead is the decoded header block of a request. A connection reuses one for all requests.
type requestHead struct {
	method, scheme, authority, path string

	fields    []field // regular fields
	seen      pseudo
	size      uint32
	max       uint32
	tooLarge  bool   // the field list exceeds max; fields is empty
	malformed string // why; decoding continues, to keep the dynamic table in step
	names     *incoming
}

type field struct{ name, value string }

type pseudo uint8

const (
	pseudoMethod pseudo = 1 << iota
	pseudoScheme
	pseudoAuthority
	pseudoPath
)

func (h *requestHead) reset() {
	clear(h.fields)
	*h = requestHead{fields: h.fields[:0], max: h.max, names: h.names}
}

// add adds a decoded field. It ignores the field if the block is too large or malformed.
func (h *requestHead) add(f hpack.HeaderField) {
	if h.tooLarge || h.malformed != "" {
		return
	}
	h.size += f.Size()
	switch {
	case h.size > h.max:
		h.tooLarge = true
		clear(h.fields)
		h.fields = h.fields[:0]
	case !httpguts.ValidHeaderFieldValue(f.Value):
		h.malformed = "field value not allowed"
	case f.IsPseudo():
		h.addPseudo(f)
	default:
		h.addField(f)
	}
}

func (h *requestHead) addPseudo(f hpack.HeaderField) {
	var (
		which pseudo
		to    *string
	)
	switch f.Name {
	case ":method":
		which, to = pseudoMethod, &h.method
	case ":scheme":
		which, to = pseudoScheme, &h.scheme
	case ":authority":
		which, to = pseudoAuthority, &h.authority
	case ":path":
		which, to = pseudoPath, &h.path
	default:
		h.malformed = "unknown pseudo-header"
		return
	}
	if h.seen&which != 0 || len(h.fields) > 0 {
		h.malformed = "repeated or late pseudo-header"
		return
	}
	h.seen |= which
	*to = f.Value
}

func (h *requestHead) addField(f hpack.HeaderField) {
	name, ok := canonicalNames[f.Name]
	if !ok {
		if name, ok = h.names.canonical(f.Name); !ok {
			h.malformed = "field name not allowed"
			return
		}
	}
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade":
		h.malformed = "connection-specific field"
		return
	case "Te":
		if !strings.EqualFold(f.Value, "trailers") {
			h.malformed = "connection-specific field"
			return
		}
	}
	// RFC 9113 §8.2.1 wants values with surrounding white space refused, but clients send them and
	// other servers accept them. The white space is not part of the value (RFC 9110 §5.5).
	h.fields = append(h.fields, field{name, strings.Trim(f.Value, " \t")})
}

// canonical returns the canonical form of a field name for http.Header, or false if HTTP/2 does not
// allow the name.
func (in *incoming) canonical(name string) (string, bool) {
	if known, ok := in.names[name]; ok {
		return known, true
	}
	if !httpguts.ValidHeaderFieldName(name) || strings.ContainsFunc(name, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return "", false
	}
	canonical := http.CanonicalHeaderKey(name)
	if len(in.names) >= maxCachedNames || len(name) > maxCachedNameBytes {
		in.conn.server.metrics.hit(limitCachedNames)
		return canonical, true
	}
	if in.names == nil {
		in.names = make(map[string]string)
	}
	in.names[name] = canonical
	return canonical, true
}

// decode decodes a header block, of a HEADERS frame and its CONTINUATION frames, into in.head.
func (in *incoming) decode(f *http2.HeadersFrame) error {
	h := &in.head
	h.reset()
	fragment, ended := f.HeaderBlockFragment(), f.HeadersEnded()
	encoded := 0
	for frames := 0; ; frames++ {
		encoded += len(fragment)
		if frames > maxContinuations {
			return limitExceeded(limitContinuations, "too many CONTINUATION frames")
		}
		if encoded > 2*int(h.max) {
			return limitExceeded(limitHeaderList, "header block too large")
		}
		if _, err := in.hpack.Write(fragment); err != nil {
			return undecodable(err)
		}
		if ended {
			break
		}
		next, err := in.framer.ReadFrame()
		if err != nil {
			return err
		}
		more, ok := next.(*http2.ContinuationFrame)
		if !ok {
			return protocolFault("header block interrupted")
		}
		fragment, ended = more.HeaderBlockFragment(), more.HeadersEnded()
	}
	if err := in.hpack.Close(); err != nil {
		return undecodable(err)
	}
	return nil
}

// undecodable returns the connection error for an error of the HPACK decoder.
func undecodable(err error) error {
	if errors.Is(err, hpack.ErrStringLength) {
		return limitExceeded(limitHeaderList, "header field too large")
	}
	return &connFault{code: http2.ErrCodeCompression, why: err.Error()}
}
