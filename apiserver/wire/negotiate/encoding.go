package negotiate

import (
	"net/http"
	"strconv"
	"strings"
)

// TakesGzip reports whether an answer may be compressed: gzip is named, or everything is, and
// neither with a quality of 0 (semantics B33).
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

// wanted reports whether the parameters of an encoding leave it with a quality above 0.
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

// quality reads a q-value.
func quality(text string) (q float64, ok bool) {
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}
