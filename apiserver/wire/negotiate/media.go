package negotiate

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"quorate/apiserver/wire/status"
)

// Media returns the index of the media type to serve among those offered, for a document that has
// media types of its own. The first must be application/json, for clients that accept anything.
func Media(r *http.Request, offered ...string) (int, error) {
	header := r.Header["Accept"]
	if anything(header) {
		return 0, nil
	}
	clauses := parseAccept(strings.Join(header, ","))
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.quality, a.quality) })
	refused := map[string]bool{}
	for _, c := range clauses {
		refused[c.media] = refused[c.media] || c.quality == 0 && c.target == (Target{})
	}
	for _, c := range clauses {
		if c.quality == 0 || c.target != (Target{}) {
			continue
		}
		for i, media := range offered {
			if !refused[media] && (c.media == media || c.media == "*/*" || c.media == "application/*") {
				return i, nil
			}
		}
	}
	return 0, status.NewNotAcceptable(offered)
}
