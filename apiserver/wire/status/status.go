package status

import (
	"bytes"
	"encoding/json"

	"quorate/apiserver/limit"
)

// Status is the document of specification §2.2.
type Status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Status     string   `json:"status,omitempty"`
	Message    string   `json:"message,omitempty"`
	Reason     Reason   `json:"reason,omitempty"`
	Details    *Details `json:"details,omitempty"`
	Code       int      `json:"code,omitempty"`
}

// Details identifies the subject of a Status.
type Details struct {
	Name              string  `json:"name,omitempty"`
	Group             string  `json:"group,omitempty"`
	Kind              string  `json:"kind,omitempty"`
	UID               string  `json:"uid,omitempty"`
	Causes            []Cause `json:"causes,omitempty"`
	RetryAfterSeconds int     `json:"retryAfterSeconds,omitempty"`
}

// Cause is one of several reasons for a failure.
type Cause struct {
	Reason  CauseReason `json:"reason,omitempty"`
	Message string      `json:"message,omitempty"`
	Field   string      `json:"field,omitempty"`
}

// Reason is the machine-readable reason of a failure.
type Reason string

// The reasons of failures, one for each kind of error (I1–I17).
const (
	BadRequest            Reason = "BadRequest"
	Unauthorized          Reason = "Unauthorized"
	Forbidden             Reason = "Forbidden"
	NotFound              Reason = "NotFound"
	MethodNotAllowed      Reason = "MethodNotAllowed"
	NotAcceptable         Reason = "NotAcceptable"
	AlreadyExists         Reason = "AlreadyExists"
	Conflict              Reason = "Conflict"
	Expired               Reason = "Expired"
	RequestEntityTooLarge Reason = "RequestEntityTooLarge"
	UnsupportedMediaType  Reason = "UnsupportedMediaType"
	Invalid               Reason = "Invalid"
	TooManyRequests       Reason = "TooManyRequests"
	InternalError         Reason = "InternalError"
	ServiceUnavailable    Reason = "ServiceUnavailable"
	Timeout               Reason = "Timeout"

	// InsufficientStorage is an addition to Kubernetes, which responds with 500 and no reason when
	// its store is full.
	InsufficientStorage Reason = "InsufficientStorage"
)

// CauseReason is the machine-readable reason of a cause.
type CauseReason string

// The reasons of causes that are not about a field. Causes about a field use the reasons of field
// errors (I18).
const (
	NamespaceTerminating    CauseReason = "NamespaceTerminating"
	ResourceVersionTooLarge CauseReason = "ResourceVersionTooLarge"
	ResourceExpired         CauseReason = "ResourceExpired"
	FieldManagerConflict    CauseReason = "FieldManagerConflict"
)

// Subject is the object or collection that a request is about.
type Subject struct {
	Group  string
	Plural string
	Kind   string
	Name   string
}

// qualified returns the plural with its group, such as `statefulsets.apps`.
func (s Subject) qualified() string {
	if s.Group == "" {
		return s.Plural
	}
	return s.Plural + "." + s.Group
}

func (s Subject) details() *Details {
	return &Details{Name: s.Name, Group: s.Group, Kind: s.Plural}
}

// Success returns the response to a delete: a Status of success that names kind, name and uid (G1).
func Success(s Subject, uid string) *Status {
	st := &Status{Kind: "Status", APIVersion: "v1", Status: "Success", Details: s.details()}
	st.Details.UID = uid
	return st
}

// JSON returns the document on one line, without a line feed.
func (s *Status) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// The document has only strings and integers, so encoding cannot fail.
	_ = e.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Error is a failure with its Status.
type Error struct {
	Status Status
	// Allow is the value of the Allow header of a 405.
	Allow string
	// Limit is the bound whose refusal this is; "" for other reasons.
	Limit limit.Name
}

func (e *Error) Error() string { return e.Status.Message }

// ReachedLimit implements limit.Marked.
func (e *Error) ReachedLimit() limit.Name { return e.Limit }

func failure(code int, reason Reason, message string, details *Details) *Error {
	return &Error{Status: Status{
		Kind: "Status", APIVersion: "v1", Status: "Failure",
		Message: message, Reason: reason, Details: details, Code: code,
	}}
}
