package negotiate

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/status"
)

// Answer chooses the form of an answer that is one document (semantics B6, B7, B15–B23). protobuf says whether the document
// has that form.
func Answer(r *http.Request, query Query, protobuf bool) (Form, error) {
	header := r.Header["Accept"]
	form := JSON
	if !anything(header) {
		o := offered(YAML)
		if protobuf {
			o = offered(YAML, Protobuf, KubernetesProtobuf)
		}
		var err error
		if form, err = accepted(header, o, false); err != nil {
			return JSON, err
		}
	}
	if form == JSON && wantsPretty(r, query) {
		return PrettyJSON, nil
	}
	return form, nil
}

// Stream chooses the form of a watch stream, which is never pretty nor YAML (D7, B8).
func Stream(r *http.Request, protobuf bool) (Form, error) {
	header := r.Header["Accept"]
	switch {
	case anything(header):
		return JSON, nil
	case protobuf:
		return accepted(header, offered(Protobuf, KubernetesProtobuf), true)
	}
	return accepted(header, offered(), true)
}

// wantsPretty: asked for, or a person looks at it with curl or a browser (B7).
func wantsPretty(r *http.Request, query Query) bool {
	if query != nil && query.Has("pretty") {
		pretty, err := strconv.ParseBool(query.Get("pretty"))
		return query.Get("pretty") == "" || err == nil && pretty
	}
	agent := r.Header["User-Agent"]
	if len(agent) == 0 {
		return false
	}
	return strings.HasPrefix(agent[0], "curl") || strings.HasPrefix(agent[0], "Wget") || strings.HasPrefix(agent[0], "Mozilla/5.0")
}

// Query is what this package needs of the parsed query; nil is an empty one.
type Query interface {
	Has(name string) bool
	Get(name string) string
}

// anything reports whether JSON will do, for the headers that nearly all clients send.
func anything(header []string) bool {
	return len(header) == 0 || len(header) == 1 && (header[0] == jsonType || header[0] == "*/*" || header[0] == "")
}

// accepted returns the first form offered in descending quality, then in order. A wildcard stands for all that is not refused
// by a quality of 0 elsewhere.
func accepted(header []string, o offer, stream bool) (Form, error) {
	clauses, converted := parseAccept(strings.Join(header, ","))
	left := o
	for _, c := range clauses {
		if c.quality == 0 {
			if f, known := formOf(c.media); known {
				left &^= 1 << f
			}
		}
	}
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.quality, a.quality) })
	for _, c := range clauses {
		if c.quality == 0 {
			break
		}
		if f, ok := left.choose(c.media); ok {
			return f, nil
		}
	}
	if converted != "" {
		return JSON, status.NewNotConvertible(converted, o.types(stream))
	}
	return JSON, status.NewNotAcceptable(o.types(stream))
}

// choose returns the form for one media type of an Accept header.
func (o offer) choose(media string) (Form, bool) {
	if media != "*/*" && media != "application/*" {
		f, known := formOf(media)
		return f, known && o.has(f)
	}
	for f := range Form(Forms) {
		if o.has(f) {
			return f, true
		}
	}
	return JSON, false
}

// clause is one media type of an Accept header.
type clause struct {
	media   string
	quality float64
}

// parseAccept leaves out what can't be served: clauses that ask for another document than the object itself (`as=Table`), the
// first of which it returns beside.
func parseAccept(header string) (clauses []clause, converted string) {
	for text := range strings.SplitSeq(header, ",") {
		media, params, _ := strings.Cut(text, ";")
		c := clause{media: strings.ToLower(strings.TrimSpace(media)), quality: 1}
		as, ok := c.parseParams(params)
		switch {
		case c.media == "" || !ok:
		case as == "":
			clauses = append(clauses, c)
		case converted == "":
			converted = as
		}
	}
	return clauses, converted
}

// parseParams reads the parameters of a clause: its quality, and the kind that its document is to be turned into. Others, such
// as charset and stream, change nothing.
func (c *clause) parseParams(params string) (as string, ok bool) {
	var group, version string
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		switch strings.ToLower(name) {
		case "q":
			if c.quality, ok = quality(value); !ok {
				return "", false
			}
		case "as":
			as = value
		case "g":
			group = value
		case "v":
			version = value
		}
	}
	if as != "" {
		as = group + "/" + version + ", Kind=" + as
	}
	return as, true
}
