package negotiate

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/status"
)

// Form is how an answer is written.
type Form uint8

// The forms of answers.
const (
	JSON       Form = iota // compact, one line
	PrettyJSON             // indented by two spaces, with a line feed at the end
	YAML
)

// Media types.
const (
	jsonType     = "application/json"
	yamlType     = "application/yaml"
	protobufType = "application/vnd.platform.protobuf"
	// kubernetesProtobufType is what stock clients call protobufType (semantics B19).
	kubernetesProtobufType = "application/vnd.kubernetes.protobuf"
)

// ContentType returns the form's Content-Type.
func (f Form) ContentType() string {
	if f == YAML {
		return yamlType
	}
	return jsonType
}

// Answer chooses the form of an answer that is one document (semantics B6, B7, B15–B23).
func Answer(r *http.Request, query Query) (Form, error) {
	form, ok := accepted(r.Header["Accept"], true)
	if !ok {
		return JSON, status.NewNotAcceptable([]string{jsonType, yamlType})
	}
	if form == JSON && wantsPretty(r, query) {
		return PrettyJSON, nil
	}
	return form, nil
}

// Stream checks that the client takes a watch stream in the one form there is (D7).
func Stream(r *http.Request) error {
	if _, ok := accepted(r.Header["Accept"], false); !ok {
		return status.NewNotAcceptable([]string{jsonType, StreamType})
	}
	return nil
}

// StreamType is the Content-Type of a watch stream (D6).
const StreamType = jsonType + ";stream=watch"

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

// accepted returns the form of the first acceptable type in descending quality, then in order.
func accepted(values []string, yaml bool) (Form, bool) {
	if len(values) == 0 || len(values) == 1 && (values[0] == jsonType || values[0] == "*/*" || values[0] == "") {
		return JSON, true
	}
	clauses := parseAccept(strings.Join(values, ","))
	slices.SortStableFunc(clauses, func(a, b clause) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	for _, c := range clauses {
		switch c.media {
		case jsonType, "*/*", "application/*":
			return JSON, true
		case yamlType:
			if yaml {
				return YAML, true
			}
		}
	}
	return JSON, false
}

// clause is one media type of an Accept header.
type clause struct {
	media   string
	quality float64
}

// parseAccept leaves out what can't be served: clauses of quality 0, and those that ask for another document than the object
// itself (`as=Table`).
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		media, params, _ := strings.Cut(text, ";")
		c := clause{media: strings.ToLower(strings.TrimSpace(media)), quality: 1}
		if c.media != "" && c.parseParams(params) && c.quality > 0 {
			clauses = append(clauses, c)
		}
	}
	return clauses
}

func (c *clause) parseParams(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		switch strings.ToLower(name) {
		case "q":
			q, err := strconv.ParseFloat(value, 64)
			if err != nil || q < 0 || q > 1 {
				return false
			}
			c.quality = q
		case "as":
			return false
		}
	}
	return true
}
