package negotiate

import (
	"net/http"
	"strconv"
	"strings"
)

// TakesGzip reports whether the client accepts a compressed body (B33): the Accept-Encoding header
// has gzip or a wildcard, and not with a quality of 0.
func TakesGzip(r *http.Request) bool {
	named, others := false, false
	for _, value := range r.Header["Accept-Encoding"] {
		for encoding := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(encoding, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip":
				if !wanted(params) {
					return false
				}
				named = true
			case "*":
				others = wanted(params)
			}
		}
	}
	return named || others
}

// wanted reports whether the parameters of an encoding give it a quality above 0.
func wanted(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, ok := quality(value)
		return ok && q > 0
	}
	return true
}

// quality parses a q-value.
func quality(text string) (q float64, ok bool) {
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}
