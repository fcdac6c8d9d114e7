package h2

import (
	"errors"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// requestHead is a request's header block as it is decoded. One serves all blocks of a connection in turn.
type requestHead struct {
	method, scheme, authority, path string

	fields []field // regular ones
	seen   pseudo
	size   uint32
	max    uint32
	over   bool   // the list is longer than allowed; nothing of it is kept
	bad    string // why the request is malformed; the block is decoded all the same, to keep the tables in step
	names  *incoming
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

// add takes one decoded field.
func (h *requestHead) add(f hpack.HeaderField) {
	if h.over || h.bad != "" {
		return
	}
	h.size += f.Size()
	switch {
	case h.size > h.max:
		h.over = true
		clear(h.fields)
		h.fields = h.fields[:0]
	case !httpguts.ValidHeaderFieldValue(f.Value):
		h.bad = "field value not allowed"
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
		h.bad = "unknown pseudo-header"
		return
	}
	if h.seen&which != 0 || len(h.fields) > 0 {
		h.bad = "repeated or late pseudo-header"
		return
	}
	h.seen |= which
	*to = f.Value
}

func (h *requestHead) addField(f hpack.HeaderField) {
	name, ok := canonicalNames[f.Name]
	if !ok {
		if name, ok = h.names.canonical(f.Name); !ok {
			h.bad = "field name not allowed"
			return
		}
	}
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade":
		h.bad = "connection-specific field"
		return
	case "Te":
		if !strings.EqualFold(f.Value, "trailers") {
			h.bad = "connection-specific field"
			return
		}
	}
	// RFC 9113 §8.2.1 would have a value with white space around it refused; clients send such, and other servers take it. It is no
	// part of the value (RFC 9110 §5.5).
	h.fields = append(h.fields, field{name, strings.Trim(f.Value, " \t")})
}

// canonical returns a name as http.Header has it; false when it is not allowed in HTTP/2.
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

// decode reads a header block to its end.
func (in *incoming) decode(f *http2.HeadersFrame) error {
	h := &in.head
	h.reset()
	fragment, ended := f.HeaderBlockFragment(), f.HeadersEnded()
	encoded := 0
	for frames := 0; ; frames++ {
		encoded += len(fragment)
		if frames > maxContinuations {
			return excess(limitContinuations, "too many CONTINUATION frames")
		}
		if encoded > 2*int(h.max) {
			return excess(limitHeaderList, "header block too large")
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

func undecodable(err error) error {
	if errors.Is(err, hpack.ErrStringLength) {
		return excess(limitHeaderList, "header field too large")
	}
	return &connFault{code: http2.ErrCodeCompression, why: err.Error()}
}
