package status

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
)

// Bounds of the errors that one response lists. A body of 3 MiB can have some hundred thousand.
const (
	maxCauses     = 1000
	maxCauseBytes = 256 << 10 // of all texts together; the first error is always listed
)

// NewInvalid reports that an object violates rules of its kind (A45: 422 with all errors as
// causes). It lists the errors in the order found, up to a bound.
func NewInvalid(s Subject, errs field.ErrorList) *Error {
	kind := s.Kind
	if s.Group != "" {
		kind += "." + s.Group
	}
	details := &Details{Name: s.Name, Group: s.Group, Kind: s.Kind}
	var texts []string
	seen, bytes := map[string]bool{}, 0
	for i, e := range errs {
		body := e.ErrorBody()
		text := e.Field + ": " + body
		if bytes += len(text); i == maxCauses || i > 0 && bytes > maxCauseBytes {
			texts = append(texts, fmt.Sprintf("and %d more errors", len(errs)-i))
			break
		}
		details.Causes = append(details.Causes, Cause{Reason: CauseReason(e.Type), Message: body, Field: e.Field})
		if !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	refusal := failure(http.StatusUnprocessableEntity, Invalid, fmt.Sprintf("%s %q is invalid: %s", kind, s.Name, joined(texts)), details)
	refusal.Limit = reachedLimit(errs, len(details.Causes))
	return refusal
}

// reachedLimit returns the bound that one of the errors reports, or else limit.Causes if not all of
// them are listed.
func reachedLimit(errs field.ErrorList, listed int) limit.Name {
	for _, e := range errs {
		if name := limit.OfOrigin(e.Origin); name != "" {
			return name
		}
	}
	if listed < len(errs) {
		return limit.Causes
	}
	return ""
}

// joined formats errors like Kubernetes, whose own function takes time quadratic in their number.
func joined(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
