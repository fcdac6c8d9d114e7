package negotiate

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/wire/status"
)

// Target identifies the kind of document to which a client wants the response converted, such as
// `as=Table;v=v1;g=meta.k8s.io`. The zero Target is the document itself.
type Target struct{ Group, Version, Kind string }

// Parameters returns the parameters that identify the target in a content type.
func (t Target) Parameters() string { return ";g=" + t.Group + ";v=" + t.Version + ";as=" + t.Kind }

// Variant is a document that a response can have, with the forms in which it is offered.
type Variant struct {
	Target Target
	Forms  Offer
}

// Own returns the variant of the unconverted document, in all forms; protobuf says whether that
// form is among them.
func Own(protobuf bool) Variant {
	if protobuf {
		return Variant{Forms: Offered(YAML, Protobuf, KubernetesProtobuf)}
	}
	return Variant{Forms: Offered(YAML)}
}

// Choose returns the form and the document that the Accept header of a request prefers for the
// response (B15–B23). JSON is indented if the query or the client asks for that (B6, B7). The first
// variant must be the unconverted document, and must be offered as JSON.
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

// ChooseStream returns the form and the document for the objects of a watch stream. A stream is
// never indented and never YAML (D7, B8). The first variant must be the object itself.
func ChooseStream(r *http.Request, variants ...Variant) (Form, Target, error) {
	header := r.Header["Accept"]
	if anything(header) {
		return JSON, Target{}, nil
	}
	return accepted(header, true, variants...)
}

// wantsPretty reports whether JSON should be indented: as `pretty` says, and without it for curl,
// Wget and browsers (B7).
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

// Query is the parsed query of a request, as far as this package needs it; nil is an empty one.
type Query interface {
	Has(name string) bool
	Get(name string) string
}

// anything reports whether the Accept header accepts JSON, for the values that nearly all clients
// send.
func anything(header []string) bool {
	return len(header) == 0 || len(header) == 1 && (header[0] == jsonType || header[0] == "*/*" || header[0] == "")
}

// accepted returns the form and the document of the first acceptable clause by descending quality,
// then by order (B22). A wildcard matches every offered type that no other clause refuses with a
// quality of 0. Without an acceptable clause, accepted returns a 406 error.
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

// unrefused returns the variants without the forms that the clauses refuse with a quality of 0.
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

// parseAccept returns the clauses of an Accept header, without those that are malformed.
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

// parseParams reads the quality and the target of a clause from its parameters. It ignores others,
// such as charset and stream. It returns false if a parameter is malformed.
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
