package route

import (
	"net/http"
	"strings"
)

// Unchanged sets the ETag of a response that depends on Accept. If the client already has the
// document with that tag, it responds with 304 and returns true (L11).
func (c *Call) Unchanged(tag string) bool {
	h := c.W.Header()
	h.Set("Etag", tag)
	h.Set("Vary", "Accept")
	if !matches(c.R.Header["If-None-Match"], tag) {
		return false
	}
	c.W.WriteHeader(http.StatusNotModified)
	return true
}

// matches reports whether an If-None-Match header contains the tag. A proxy that compresses
// responses may have made it a weak tag.
func matches(header []string, tag string) bool {
	for _, line := range header {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}
