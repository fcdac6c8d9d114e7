// Package limit names the bounds on one request whose refusals
// quorate_apiserver_limit_hits_total counts, beside the bounds of package budget.
//
// The function that notices that a bound is reached marks its error with Reached. Nothing is
// counted there: package apiserver asks Of once for each failed request, before it answers.
package limit

import (
	"errors"
	"strings"
)

// Name is a value of the label "limit".
type Name string

// The bounds, in the order of SECURITY.md.
const (
	TokenSize       Name = "token-size"
	RequestTime     Name = "request-time"
	AnswerTime      Name = "answer-time"
	SelectorSize    Name = "selector-size"
	SelectorTerms   Name = "selector-terms"
	ContinueSize    Name = "continue-size"
	ContinueAge     Name = "continue-age"
	BodySize        Name = "body-size"
	BodyTime        Name = "body-time"
	HeaderSize      Name = "header-size"
	QueryParameters Name = "query-parameters"
	ObjectSize      Name = "object-size"
	EntrySize       Name = "entry-size"
	Nesting         Name = "nesting"
	Fields          Name = "fields"
	YAMLNodes       Name = "yaml-nodes"
	YAMLExpansion   Name = "yaml-expansion"
	PatchOperations Name = "patch-operations"
	PatchCopied     Name = "patch-copied"
	PatchMoved      Name = "patch-moved"
	PatchMerged     Name = "patch-merged"
	Causes          Name = "causes"
	Definitions     Name = "definitions"
	SchemaSize      Name = "schema-size"
	SchemaRules     Name = "schema-rules"
	SchemaCost      Name = "schema-cost"
	SchemaPatterns  Name = "schema-patterns"
	ValidationSteps Name = "validation-steps"
	RuleCost        Name = "rule-cost"

	AdmissionCalls    Name = "admission-calls"
	AdmissionAnswer   Name = "admission-answer-size"
	AdmissionTime     Name = "admission-time"
	AdmissionWebhooks Name = "admission-webhooks"

	WebhookMemory Name = "webhook-memory"

	LogReads Name = "log-reads"
)

// All returns every name.
func All() []Name {
	return []Name{
		TokenSize, RequestTime, AnswerTime, SelectorSize, SelectorTerms, ContinueSize, ContinueAge,
		BodySize, BodyTime, HeaderSize, QueryParameters, ObjectSize, EntrySize, Nesting, Fields,
		YAMLNodes, YAMLExpansion, PatchOperations, PatchCopied, PatchMoved, PatchMerged, Causes,
		Definitions, SchemaSize, SchemaRules, SchemaCost, SchemaPatterns, ValidationSteps, RuleCost,
		AdmissionCalls, AdmissionAnswer, AdmissionTime, AdmissionWebhooks, WebhookMemory, LogReads,
	}
}

// origin begins the Origin of the field errors that Name.Origin marks.
const origin = "limit="

// Origin returns the Origin of a field error that reports the bound. It marks the refusal of the
// object as Reached does for other errors.
func (n Name) Origin() string { return origin + string(n) }

// OfOrigin returns the bound that a field error with this Origin reports, or "".
func OfOrigin(of string) Name {
	name, marked := strings.CutPrefix(of, origin)
	if !marked {
		return ""
	}
	return Name(name)
}

// Marked is an error that can say which bound was reached. Errors that are converted to others on
// the way to the client implement it; Reached is for all others.
type Marked interface {
	error
	// ReachedLimit returns the bound, or "" if the error is about something else.
	ReachedLimit() Name
}

type reached struct {
	error
	name Name
}

// Reached returns err, marked as the refusal of a request that reached a bound.
func Reached(name Name, err error) error { return &reached{err, name} }

// Of returns the bound that err is marked with, or "".
func Of(err error) Name {
	if marked, ok := errors.AsType[Marked](err); ok {
		return marked.ReachedLimit()
	}
	return ""
}

// Carry returns to, marked as from is: an error for the client keeps the mark of its cause.
func Carry(from, to error) error {
	if name := Of(from); name != "" {
		return Reached(name, to)
	}
	return to
}

// ReachedLimit implements Marked.
func (e *reached) ReachedLimit() Name { return e.name }

// Unwrap returns the error without the mark.
func (e *reached) Unwrap() error { return e.error }
