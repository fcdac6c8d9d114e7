package negotiate

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/wire/status"
)

// Target is what a client wants a document turned into: `as=Table;v=v1;g=meta.k8s.io`. The zero
// Target is the document itself.
type Target struct{ Group, Version, Kind string }

// Parameters is what a target adds to a content type.
func (t Target) Parameters() string { return ";g=" + t.Group + ";v=" + t.Version + ";as=" + t.Kind }

// Variant is one of the documents that an answer can be.
type Variant struct {
	Target Target
	Forms  Offer
}

// Own is an answer as it is, in each form that it has. protobuf says whether it has that one.
func Own(protobuf bool) Variant {
	if protobuf {
		return Variant{Forms: Offered(YAML, Protobuf, KubernetesProtobuf)}
	}
	return Variant{Forms: Offered(YAML)}
}

// Choose chooses among documents and their forms (semantics B6, B7, B15–B23). The first is the
// document itself, in JSON at least.
func Choose(r *http.Request, query Query, variants ...Variant) (Form, Target, error) {
	header := r.Header["Accept"]
	form, target := JSON, Target{}
	if !anything(header) {
		var err error
		if form, target, err = accepted(header, false, variants...); err != nil {
			return JSON, Target{}, err
		}
	}
	if form == JSON && wantsPretty(r, query) {
		form = PrettyJSON
	}
	return form, target, nil
}

// ChooseStream chooses among the documents that the objects of a watch stream can be, and the form
// of the stream, which is never pretty nor YAML (D7, B8). The first is the object itself.
func ChooseStream(r *http.Request, variants ...Variant) (Form, Target, error) {
	header := r.Header["Accept"]
	if anything(header) {
		return JSON, Target{}, nil
	}
	return accepted(header, true, variants...)
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

// accepted returns the first form and document offered in descending quality, then in order. A
// wildcard stands for all that is not refused by a quality of 0 elsewhere.
func accepted(header []string, stream bool, variants ...Variant) (Form, Target, error) {
	clauses := parseAccept(strings.Join(header, ","))
	left := unrefused(clauses, variants)
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.quality, a.quality) })
	var converted Target
	for _, c := range clauses {
		if c.quality == 0 {
			break
		}
		if i := find(left, c.target); i >= 0 {
			if f, ok := left[i].Forms.choose(c.media); ok {
				return f, c.target, nil
			}
		}
		if converted == (Target{}) {
			converted = c.target
		}
	}
	types := variants[0].Forms.types(stream)
	if converted == (Target{}) {
		return JSON, Target{}, status.NewNotAcceptable(types)
	}
	var turned []string
	if i := find(variants, converted); i >= 0 {
		turned = variants[i].Forms.types(stream)
	}
	return JSON, Target{}, status.NewNotConvertible(converted.Group+"/"+converted.Version+", Kind="+converted.Kind, turned, types)
}

// unrefused returns the variants without the forms that have a quality of 0.
func unrefused(clauses []clause, variants []Variant) []Variant {
	left := variants
	for _, c := range clauses {
		f, known := formOf(c.media)
		if i := find(left, c.target); c.quality == 0 && known && i >= 0 {
			left = slices.Clone(left)
			left[i].Forms &^= 1 << f
		}
	}
	return left
}

func find(variants []Variant, target Target) int {
	return slices.IndexFunc(variants, func(v Variant) bool { return v.Target == target })
}

// choose returns the form for one media type of an Accept header.
func (o Offer) choose(media string) (Form, bool) {
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
	target  Target
}

// parseAccept leaves out clauses that can't be read.
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		media, params, _ := strings.Cut(text, ";")
		c := clause{media: strings.ToLower(strings.TrimSpace(media)), quality: 1}
		if c.parseParams(params) && c.media != "" {
			clauses = append(clauses, c)
		}
	}
	return clauses
}

// parseParams reads the parameters of a clause: its quality, and what its document is to be turned
// into. Others, such as charset and stream, change nothing.
func (c *clause) parseParams(params string) (ok bool) {
	var target Target
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		switch strings.ToLower(name) {
		case "q":
			if c.quality, ok = quality(value); !ok {
				return false
			}
		case "as":
			target.Kind = value
		case "g":
			target.Group = value
		case "v":
			target.Version = value
		}
	}
	if target.Kind != "" {
		c.target = target
	}
	return true
}
