package status

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Each function returns one failure with its exact wording. Clients parse some of these texts.

// NewBadRequest: the request cannot be understood (I1).
func NewBadRequest(message string) *Error {
	return failure(http.StatusBadRequest, BadRequest, message, nil)
}

// NewUnauthorized: no or invalid credentials; says nothing more (I2, J2).
func NewUnauthorized() *Error {
	return failure(http.StatusUnauthorized, Unauthorized, "Unauthorized", nil)
}

// NewForbidden: the object named by s must not be touched this way (I3).
func NewForbidden(s Subject, why string) *Error {
	return failure(http.StatusForbidden, Forbidden, forbiddenText(s)+escape(why), s.details())
}

// NewForbiddenPath: a non-resource path is not for this user (J26).
func NewForbiddenPath(why string) *Error {
	return failure(http.StatusForbidden, Forbidden, "forbidden: "+escape(why), &Details{})
}

func forbiddenText(s Subject) string {
	if s.Name == "" {
		return s.qualified() + " is forbidden: "
	}
	return fmt.Sprintf("%s %q is forbidden: ", s.qualified(), escape(s.Name))
}

// escape keeps text that came from a path from being taken for markup (I30).
func escape(s string) string {
	if !strings.ContainsAny(s, "&<>") {
		return s
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// NewNotFound: the object is not there (B2).
func NewNotFound(s Subject) *Error {
	return failure(http.StatusNotFound, NotFound, fmt.Sprintf("%s %q not found", s.qualified(), s.Name), s.details())
}

// NewNoRoute: there is nothing under the path (B4).
func NewNoRoute() *Error {
	return failure(http.StatusNotFound, NotFound, "the server could not find the requested resource", &Details{})
}

// NewMethodNotAllowed: the path exists, the method does not (I5). allow lists the methods that do.
func NewMethodNotAllowed(s Subject, allow string) *Error {
	e := failure(http.StatusMethodNotAllowed, MethodNotAllowed,
		"the server does not allow this method on the requested resource", &Details{Group: s.Group, Kind: s.Plural})
	e.Allow = allow
	return e
}

// NewNotSupported: the kind does not have the operation, or not with this option (D36).
func NewNotSupported(s Subject, operation, allow string) *Error {
	e := failure(http.StatusMethodNotAllowed, MethodNotAllowed,
		fmt.Sprintf("%s is not supported on resources of kind %q", operation, s.qualified()),
		&Details{Group: s.Group, Kind: s.Plural})
	e.Allow = allow
	return e
}

// NewNotAcceptable: none of the media types asked for is produced (B23).
func NewNotAcceptable(produced []string) *Error {
	return failure(http.StatusNotAcceptable, NotAcceptable,
		"only the following media types are accepted: "+strings.Join(produced, ", "), nil)
}

// NewNotConvertible: nothing that the client accepts is an object as it is, nor in the form it asks
// for (B32). turned are the types in which it has that form, plain those without it.
func NewNotConvertible(to string, turned, plain []string) *Error {
	if len(turned) == 0 {
		turned = []string{"none"}
	}
	return failure(http.StatusNotAcceptable, NotAcceptable, fmt.Sprintf(
		"only the following media types are accepted when converting to %s: %s; without converting: %s",
		to, strings.Join(turned, ", "), strings.Join(plain, ", ")), nil)
}

// NewUnsupportedMediaType: the body is of a type that is not consumed (A42).
func NewUnsupportedMediaType(consumed []string) *Error {
	return failure(http.StatusUnsupportedMediaType, UnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(consumed, ", "), nil)
}

// NewEntityTooLarge: the body is over the limit (A43).
func NewEntityTooLarge(limit int64) *Error {
	return failure(http.StatusRequestEntityTooLarge, RequestEntityTooLarge,
		fmt.Sprintf("Request entity too large: limit is %d", limit), nil)
}

// NewObjectTooLarge: the encoded object is over what one log entry may hold (A44).
func NewObjectTooLarge(limit int) *Error {
	return failure(http.StatusRequestEntityTooLarge, RequestEntityTooLarge,
		fmt.Sprintf("Request entity too large: the stored object may not exceed %d bytes", limit), nil)
}

// NewAlreadyExists: the name is taken (A10).
func NewAlreadyExists(s Subject, terminating bool) *Error {
	message := fmt.Sprintf("%s %q already exists", s.qualified(), s.Name)
	if terminating {
		message = "object is being deleted: " + message
	}
	return failure(http.StatusConflict, AlreadyExists, message, s.details())
}

// NewNameNotGenerated: every generated name was taken (A12).
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

// NewModified: the object is at another version than the one the change was made from (E2).
func NewModified(s Subject) *Error {
	return conflict(s, "the object has been modified; please apply your changes to the latest version and try again")
}

// NewUIDConflict: the body is about an earlier object of this name (E5).
func NewUIDConflict(s Subject, want, have string) *Error {
	return conflict(s, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", want, have))
}

// NewDeleteUIDConflict: the uid in the preconditions of a delete is not the stored one (G17).
func NewDeleteUIDConflict(s Subject, want, have string) *Error {
	return conflict(s, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
		"The object might have been deleted and then recreated", want, have))
}

// NewDeleteVersionConflict: the version in the preconditions of a delete is not the stored one
// (G18).
func NewDeleteVersionConflict(s Subject, want, have string) *Error {
	return conflict(s, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
		"The object might have been modified", want, have))
}

// NewContention: other writers were faster at every attempt of an unconditional write.
func NewContention(s Subject) *Error {
	return conflict(s, "the object changed at every attempt; please try again")
}

// NewRefusedCommand: the cluster can't do what an operator asked.
func NewRefusedCommand(why string) *Error {
	return failure(http.StatusConflict, Conflict, why, nil)
}

// NewTooOldVersion: history does not reach back to the version (D13).
func NewTooOldVersion(want, oldest uint64) *Error {
	return expired(fmt.Sprintf("too old resource version: %d (%d)", want, oldest))
}

// NewExpiredContinue: the continue value cannot be used (C37, C38).
func NewExpiredContinue() *Error {
	return expired("ResourceExpired: the provided continue parameter is not recognized or too old; " +
		"please start the list again without it")
}

// NewTooOldList: the exact version asked for is not kept (C26).
func NewTooOldList() *Error {
	return expired("The resourceVersion for the provided list is too old.")
}

func expired(message string) *Error {
	return failure(http.StatusGone, Expired, message,
		&Details{Causes: []Cause{{Reason: ResourceExpired, Message: message}}})
}

// NewInvalidOption: an option of the request is not allowed (A50); options is DeleteOptions,
// ListOptions, ….
func NewInvalidOption(options string, err *field.Error) *Error {
	return NewInvalid(Subject{Group: "meta.k8s.io", Kind: options}, field.ErrorList{err})
}

// NewTooManyRequests: a bound on the requests under way is reached (I13).
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

// NewInternal: a fault of ours (I14).
func NewInternal(message string) *Error {
	return failure(http.StatusInternalServerError, InternalError, "Internal error occurred: "+message,
		&Details{Causes: []Cause{{Message: message}}})
}

// NewUnavailable: surely nothing was done; may be tried again (I16).
func NewUnavailable(why string) *Error {
	return failure(http.StatusServiceUnavailable, ServiceUnavailable,
		"the server is currently unable to handle the request: "+why, &Details{RetryAfterSeconds: 1})
}

// NewInsufficientStorage reports that the disks are full and that nothing was written (I16). It has
// no Retry-After: an operator must free space, so clients should report the failure at once instead
// of after ten silent attempts (I21).
func NewInsufficientStorage(why string) *Error {
	return failure(http.StatusInsufficientStorage, InsufficientStorage, why, &Details{})
}

// NewUnknownOutcome: a write was handed to the log and its fate is not known (I22). Never with
// Retry-After.
func NewUnknownOutcome() *Error {
	return failure(http.StatusGatewayTimeout, Timeout,
		"request did not complete within the allotted timeout; the write may still be applied", &Details{})
}

// NewTimeout: a read could not be answered in time.
func NewTimeout() *Error {
	return failure(http.StatusGatewayTimeout, Timeout,
		"Timeout: request did not complete within the allotted timeout", &Details{})
}

// NewTooLargeVersion: the version asked for has not been reached here (C33).
func NewTooLargeVersion(want, have uint64) *Error {
	return failure(http.StatusGatewayTimeout, Timeout,
		fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", want, have),
		&Details{RetryAfterSeconds: 1, Causes: []Cause{{
			Reason: ResourceVersionTooLarge, Message: "Too large resource version",
		}}})
}

// NewNamespaceNotFound: the namespace of a write does not exist (A31).
func NewNamespaceNotFound(namespace string) *Error {
	return NewNotFound(Subject{Plural: "namespaces", Kind: "Namespace", Name: namespace})
}

// NewNamespaceTerminating: no new content in a namespace that is going away (A32).
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

// NewPatchRefused: the patch is well-formed and cannot be applied to the object (F8, F9, F23, F24).
// why becomes the cause.
func NewPatchRefused(why string) *Error {
	return failure(http.StatusUnprocessableEntity, Invalid, "the server rejected our request due to an error in our request",
		&Details{Causes: []Cause{{Reason: CauseReason(field.ErrorTypeInvalid), Message: why, Field: "patch"}}})
}

// NewPatchTooLarge: a JSON patch of too many operations, or one that takes too much work (F11).
func NewPatchTooLarge(why string) *Error {
	return failure(http.StatusRequestEntityTooLarge, RequestEntityTooLarge, why, nil)
}

// NewPartial: a delete of a collection failed though some of its objects were deleted (G32). It is
// not to be repeated as if nothing had been done.
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
