package client

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Status is the Status of a failed request.
type Status struct {
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Code    int    `json:"code"`
}

// outcome is that of an answer with the given code. A Status that contradicts the code, or does not
// say why, is a flaw.
func (s Status) outcome(code int) (outcome Outcome, flaw string) {
	failure, known := failures[code]
	switch {
	case !known:
		return Refused, fmt.Sprintf("a correct server does not answer %d here", code)
	case s.Kind != "Status" || s.Status != "Failure":
		return Refused, fmt.Sprintf("the body of %d is kind %q, status %q; want a Status of a Failure", code, s.Kind, s.Status)
	case s.Code != code:
		return Refused, fmt.Sprintf("the Status of %d has code %d", code, s.Code)
	case !slices.Contains(failure.reasons, s.Reason):
		return Refused, fmt.Sprintf("the Status of %d has reason %q, want one of %q", code, s.Reason, failure.reasons)
	case s.Message == "":
		return Refused, fmt.Sprintf("the Status of %d has no message", code)
	}
	return failure.outcome, ""
}

// parseStatus reads a Status in the representation that the content type names.
func parseStatus(contentType string, body []byte) (s Status, err error) {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return s, fmt.Errorf("content type %q: %w", contentType, err)
	case media == JSON:
		err = json.Unmarshal(body, &s)
		return s, err
	case media == Protobuf:
		return parseProtobufStatus(body)
	default:
		return s, fmt.Errorf("content type %q", contentType)
	}
}

// Field numbers of a Status in protobuf.
const (
	statusStatus  = 2
	statusMessage = 3
	statusReason  = 4
	statusCode    = 6
)

func parseProtobufStatus(body []byte) (Status, error) {
	_, kind, raw, err := unwrap(body)
	if err != nil {
		return Status{}, err
	}
	return unwrappedStatus(kind, raw)
}

// unwrappedStatus reads a Status without its envelope.
func unwrappedStatus(kind string, raw []byte) (Status, error) {
	s := Status{Kind: kind}
	err := fields(raw, func(number protowire.Number, content []byte, value uint64) error {
		switch number {
		case statusStatus:
			s.Status = string(content)
		case statusMessage:
			s.Message = string(content)
		case statusReason:
			s.Reason = string(content)
		case statusCode:
			s.Code = int(value)
		}
		return nil
	})
	return s, err
}
