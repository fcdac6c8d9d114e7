package route

import (
	"net/url"
	"strings"
)

// MaxParameters bounds the parameters of a query. The server refuses a query with more separators.
const MaxParameters = 1000

// parameters are the parameters of a query, in its order. Most queries have one or two, which a slice
// holds and finds for less than the map of url.Values.
type parameters []given

type given struct{ name, text string }

// parseParameters parses a query as url.URL.Query does: parameters that can't be unescaped, or that
// have a semicolon, are left out. It stops after MaxParameters.
func parseParameters(query string) parameters {
	var out parameters
	for query != "" && len(out) < MaxParameters {
		var parameter string
		parameter, query, _ = strings.Cut(query, "&")
		if parameter == "" || strings.Contains(parameter, ";") {
			continue
		}
		name, text, _ := strings.Cut(parameter, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			continue
		}
		if text, err = url.QueryUnescape(text); err != nil {
			continue
		}
		out = append(out, given{name, text})
	}
	return out
}

// first returns the first value of a parameter.
func (p parameters) first(name string) (text string, ok bool) {
	for i := range p {
		if p[i].name == name {
			return p[i].text, true
		}
	}
	return "", false
}

// all returns all values of a parameter.
func (p parameters) all(name string) []string {
	var out []string
	for i := range p {
		if p[i].name == name {
			out = append(out, p[i].text)
		}
	}
	return out
}
