package status

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/raftstore"
)

// Each function returns one failure with its exact wording. Clients parse some of these texts.

// NewBadRequest reports a request that cannot be understood (I1: 400).
func NewBadRequest(message string) *Error {
	return failure(http.StatusBadRequest, BadRequest, message, nil)
}

// NewUnauthorized reports missing or invalid credentials, with the same text for all causes (I2,
// J2: 401).
func NewUnauthorized() *Error {
	return failure(http.StatusUnauthorized, Unauthorized, "Unauthorized", nil)
}

// NewForbidden reports that the user may not do this to the object s (I3: 403).
func NewForbidden(s Subject, why string) *Error {
	return failure(http.StatusForbidden, Forbidden, forbiddenText(s)+escape(why), s.details())
}

// NewForbiddenPath reports that the user may not access a non-resource path (J26).
func NewForbiddenPath(why string) *Error {
	return failure(http.StatusForbidden, Forbidden, "forbidden: "+escape(why), &Details{})
}

func forbiddenText(s Subject) string {
	if s.Name == "" {
		return s.qualified() + " is forbidden: "
	}
	return fmt.Sprintf("%s %q is forbidden: ", s.qualified(), escape(s.Name))
}

// escape escapes markup in text that comes from a path (I30).
func escape(s string) string {
	if !strings.ContainsAny(s, "&<>") {
		return s
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// NewNotFound reports that the object does not exist (B2: 404).
func NewNotFound(s Subject) *Error {
	return failure(http.StatusNotFound, NotFound, fmt.Sprintf("%s %q not found", s.qualified(), s.Name), s.details())
}

// NewNoRoute reports that nothing is served under the path (B4: 404).
func NewNoRoute() *Error {
	return failure(http.StatusNotFound, NotFound, "the server could not find the requested resource", &Details{})
}

// NewMethodNotAllowed reports that the path does not have the method (I5: 405). allow lists those
// that it has.
func NewMethodNotAllowed(s Subject, allow string) *Error {
	e := failure(http.StatusMethodNotAllowed, MethodNotAllowed,
		"the server does not allow this method on the requested resource", &Details{Group: s.Group, Kind: s.Plural})
	e.Allow = allow
	return e
}

// NewNotSupported reports that the kind does not have the operation, or not with this option (D36:
// 405).
func NewNotSupported(s Subject, operation, allow string) *Error {
	e := failure(http.StatusMethodNotAllowed, MethodNotAllowed,
		fmt.Sprintf("%s is not supported on resources of kind %q", operation, s.qualified()),
		&Details{Group: s.Group, Kind: s.Plural})
	e.Allow = allow
	return e
}

// NewNotAcceptable reports that none of the accepted media types is produced (B23: 406).
func NewNotAcceptable(produced []string) *Error {
	return failure(http.StatusNotAcceptable, NotAcceptable,
		"only the following media types are accepted: "+strings.Join(produced, ", "), nil)
}

// NewNotConvertible reports that no accepted media type offers the requested conversion or the
// plain object (B32: 406). turned lists the media types of the conversion, plain lists those of the
// object.
func NewNotConvertible(to string, turned, plain []string) *Error {
	if len(turned) == 0 {
		turned = []string{"none"}
	}
	return failure(http.StatusNotAcceptable, NotAcceptable, fmt.Sprintf(
		"only the following media types are accepted when converting to %s: %s; without converting: %s",
		to, strings.Join(turned, ", "), strings.Join(plain, ", ")), nil)
}

// NewUnsupportedMediaType reports a body whose form was not recognized (A42: 415).
func NewUnsupportedMediaType(consumed []string) *Error {
	return failure(http.StatusUnsupportedMediaType, UnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(consumed, ", "), nil)
}

// NewEntityTooLarge reports a body over the limit (A43: 413).
func NewEntityTooLarge(limit int64) *Error {
	return failure(http.StatusRequestEntityTooLarge, RequestEntityTooLarge,
		fmt.Sprintf("Request entity too large: limit is %d", limit), nil)
}

// NewHeaderTooLarge reports a header over the limit. Kubernetes has no reason for 431.
func NewHeaderTooLarge(limit int) *Error {
	return failure(http.StatusRequestHeaderFieldsTooLarge, "", fmt.Sprintf("Request header too large: limit is %d", limit), nil)
}

// NewObjectTooLarge reports an object whose encoded form exceeds the bound of a log entry (A44:
// 413).
func NewObjectTooLarge(limit int) *Error {
	return failure(http.StatusRequestEntityTooLarge, RequestEntityTooLarge,
		fmt.Sprintf("Request entity too large: the stored object may not exceed %d bytes", limit), nil)
}

// NewAlreadyExists reports that the name is in use (A10: 409).
func NewAlreadyExists(s Subject, terminating bool) *Error {
	message := fmt.Sprintf("%s %q already exists", s.qualified(), s.Name)
	if terminating {
		message = "object is being deleted: " + message
	}
	return failure(http.StatusConflict, AlreadyExists, message, s.details())
}

// NewNameNotGenerated reports that every generated name was in use (A12: 409).
func NewNameNotGenerated(s Subject) *Error {
	d := s.details()
	d.RetryAfterSeconds = 1
	return failure(http.StatusConflict, AlreadyExists, fmt.Sprintf(
		"%s %q already exists, the server was not able to generate a unique name for the object", s.qualified(), s.Name), d)
}

func conflict(s Subject, why string) *Error {
	return failure(http.StatusConflict, Conflict,
		fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", s.qualified(), s.Name, why), s.details())
}

// NewModified reports a change that was made from a stale version of the object (E2: 409).
func NewModified(s Subject) *Error {
	return conflict(s, "the object has been modified; please apply your changes to the latest version and try again")
}

// NewApplyConflict reports fields of an apply that other managers own (409). It lists the conflicts
// up to a bound.
func NewApplyConflict(causes []Cause, message string) *Error {
	if len(causes) > maxCauses {
		causes = causes[:maxCauses]
	}
	if len(message) > maxCauseBytes {
		message = strings.ToValidUTF8(message[:maxCauseBytes], "") + "..."
	}
	return failure(http.StatusConflict, Conflict, message, &Details{Causes: causes})
}

// NewUIDConflict reports a body about an earlier object of this name (E5: 409).
func NewUIDConflict(s Subject, want, have string) *Error {
	return conflict(s, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", want, have))
}

// NewDeleteUIDConflict reports a uid in the preconditions of a delete that is not the stored one
// (G17: 409).
func NewDeleteUIDConflict(s Subject, want, have string) *Error {
	return conflict(s, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
		"The object might have been deleted and then recreated", want, have))
}

// NewDeleteVersionConflict reports a version in the preconditions of a delete that is not the
// stored one (G18: 409).
func NewDeleteVersionConflict(s Subject, want, have string) *Error {
	return conflict(s, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
		"The object might have been modified", want, have))
}

// NewContention reports that other writers changed the object at every attempt of an unconditional
// write.
func NewContention(s Subject) *Error {
	return conflict(s, "the object changed at every attempt; please try again")
}

// NewRefusedCommand reports that the cluster can't do what an operator requested.
func NewRefusedCommand(why string) *Error {
	return failure(http.StatusConflict, Conflict, why, nil)
}

// NewTrimmedEntry reports a log entry that the node has removed.
func NewTrimmedEntry(index, first uint64) *Error {
	return expired(fmt.Sprintf("entry %d is no longer in the log of this node, which begins with entry %d", index, first))
}

// NewTooOldVersion reports a version older than history (D13: 410).
func NewTooOldVersion(want, oldest uint64) *Error {
	return expired(fmt.Sprintf("too old resource version: %d (%d)", want, oldest))
}

// NewExpiredContinue reports a continue value that is no longer or never was valid (C37, C38: 410).
func NewExpiredContinue() *Error {
	return expired("ResourceExpired: the provided continue parameter is not recognized or too old; " +
		"please start the list again without it")
}

// NewTooOldList reports that the exact version requested is compacted (C26: 410).
func NewTooOldList() *Error {
	return expired("The resourceVersion for the provided list is too old.")
}

func expired(message string) *Error {
	return failure(http.StatusGone, Expired, message,
		&Details{Causes: []Cause{{Reason: ResourceExpired, Message: message}}})
}

// NewInvalidOption reports a value that an option of the request does not allow (A50: 422). options
// names the type, such as DeleteOptions or ListOptions.
func NewInvalidOption(options string, err *field.Error) *Error {
	return NewInvalid(Subject{Group: "meta.k8s.io", Kind: options}, field.ErrorList{err})
}

// NewTooManyRequests reports that a bound on requests in flight is reached (I13: 429).
func NewTooManyRequests() *Error {
	return failure(http.StatusTooManyRequests, TooManyRequests,
		"too many requests, please try again later", &Details{RetryAfterSeconds: 1})
}

// NewLimitReached: a bound that the text names is reached; the client may try again after so many
// seconds (I13).
func NewLimitReached(limit string, afterSeconds int) *Error {
	return failure(http.StatusTooManyRequests, TooManyRequests,
		"too many requests, please try again later: "+limit, &Details{RetryAfterSeconds: afterSeconds})
}

// NewInternal reports a fault of the server (I14: 500).
func NewInternal(message string) *Error {
	return failure(http.StatusInternalServerError, InternalError, "Internal error occurred: "+message,
		&Details{Causes: []Cause{{Message: message}}})
}

// NewUnavailable reports that the server can't handle the request now and that certainly nothing
// was applied (I16: 503).
func NewUnavailable(why string) *Error {
	return failure(http.StatusServiceUnavailable, ServiceUnavailable,
		"the server is currently unable to handle the request: "+why, &Details{RetryAfterSeconds: 1})
}

// NewNoLeader reports that no leader has been known for longer than an election takes, and that
// certainly nothing was applied (I16: 503). It has no Retry-After: the voters that are missing may
// need an operator, so clients should report the failure immediately instead of after ten silent
// attempts (I21).
func NewNoLeader(why string) *Error {
	return failure(http.StatusServiceUnavailable, ServiceUnavailable,
		"the server is currently unable to handle the request: "+why, &Details{})
}

// NewInsufficientStorage reports that a write was not applied for lack of storage (I16). It has no
// Retry-After: an operator must free space, so clients should report the failure immediately
// instead of after ten silent attempts (I21: stock clients repeat any request that has the header).
func NewInsufficientStorage(why string) *Error {
	return failure(http.StatusInsufficientStorage, InsufficientStorage, why, &Details{})
}

// NewQuotaExceeded reports that a write would exceed a quota: 403 for the objects of a kind in a
// namespace, as upstream, and 507 for the size of the whole state. Nothing was written.
func NewQuotaExceeded(s Subject, e *raftstore.QuotaError) *Error {
	if e.Resource == "" {
		return NewInsufficientStorage(e.Error())
	}
	return NewForbidden(s, e.Error())
}

// NewUnknownOutcome reports a write whose outcome is unknown (I22: 504). It must never have a
// Retry-After, because stock clients would repeat the write.
func NewUnknownOutcome() *Error {
	return failure(http.StatusGatewayTimeout, Timeout,
		"request did not complete within the allotted timeout; the write may still be applied", &Details{})
}

// NewTimeout reports a read that could not be served in time.
func NewTimeout() *Error {
	return failure(http.StatusGatewayTimeout, Timeout,
		"Timeout: request did not complete within the allotted timeout", &Details{})
}

// NewTooLargeVersion reports a requested version that this node has not reached (C33: 504).
func NewTooLargeVersion(want, have uint64) *Error {
	return failure(http.StatusGatewayTimeout, Timeout,
		fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", want, have),
		&Details{RetryAfterSeconds: 1, Causes: []Cause{{
			Reason: ResourceVersionTooLarge, Message: "Too large resource version",
		}}})
}

// NewNamespaceNotFound reports a write to a namespace that does not exist (A31: 404).
func NewNamespaceNotFound(namespace string) *Error {
	return NewNotFound(Subject{Plural: "namespaces", Kind: "Namespace", Name: namespace})
}

// NewNamespaceTerminating reports a create in a namespace that is being deleted (A32: 403).
func NewNamespaceTerminating(s Subject, namespace string) *Error {
	why := fmt.Sprintf("unable to create new content in namespace %s because it is being terminated", namespace)
	e := NewForbidden(s, why)
	e.Status.Details.Causes = []Cause{{
		Reason:  NamespaceTerminating,
		Message: fmt.Sprintf("namespace %s is being terminated", namespace),
		Field:   "metadata.namespace",
	}}
	return e
}

// NewPatchRefused reports a well-formed patch that cannot be applied to the object, with why as the
// cause (F8, F9, F23, F24: 422).
func NewPatchRefused(why string) *Error {
	return failure(http.StatusUnprocessableEntity, Invalid, "the server rejected our request due to an error in our request",
		&Details{Causes: []Cause{{Reason: CauseReason(field.ErrorTypeInvalid), Message: why, Field: "patch"}}})
}

// NewPatchTooLarge reports a JSON patch that has too many operations or takes too much work (F11:
// 413).
func NewPatchTooLarge(why string) *Error {
	return failure(http.StatusRequestEntityTooLarge, RequestEntityTooLarge, why, nil)
}

// NewPartial reports a failed delete of a collection that has deleted some of the objects (G32). A
// client must not repeat it as if nothing had been done.
func NewPartial(cause *Error, deleted int64) *Error {
	partial := *cause
	partial.Status.Message = fmt.Sprintf("%s; %d objects were deleted", cause.Status.Message, deleted)
	if d := cause.Status.Details; d != nil {
		details := *d
		details.RetryAfterSeconds = 0
		partial.Status.Details = &details
	}
	return &partial
}
