package audit

import (
	"slices"
	"strconv"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

const (
	// maxURIBytes and maxMessageBytes bound the fields of an event that are longer than others.
	maxURIBytes     = 2048
	maxMessageBytes = 1024
	// maxExtra bounds the further attributes of a user.
	maxExtra = 16

	microTime = "2006-01-02T15:04:05.000000Z"
)

// The annotations of events.
const (
	decisionAnnotation      = "authorization.k8s.io/decision"
	truncatedAnnotation     = "audit.k8s.io/truncated"
	requestSizeAnnotation   = "audit.platform.io/request-object-bytes"
	responseSizeAnnotation  = "audit.platform.io/response-object-bytes"
	allowed, forbidden, yes = "allow", "forbid", "true"
)

// Outcome is how a request ended, as far as it has.
type Outcome struct {
	// Namespace and Name are those of the object, which a create gets from its body.
	Namespace, Name string
	// Impersonated is the user whose permissions counted; nil if the sender impersonated nobody.
	Impersonated *auth.User
	// Decided tells what the authorizer decided; Allowed is meaningless otherwise.
	Decided, Allowed bool
	// Annotations are those that others have added; nil for none.
	Annotations *Annotations
	Code        int            // 0 if nothing was sent
	Failure     *status.Status // nil for a success
}

// append appends the event of a stage, without a newline. o is nil before the request has ended.
func (t *Trail) append(b []byte, s Stage, o *Outcome, now time.Time) []byte {
	r := &t.received
	b = append(b, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"`...)
	b = append(b, t.level.String()...)
	b = appendText(b, `","auditID":`, r.ID)
	b = appendText(b, `,"stage":`, s.String())
	b = appendText(b, `,"requestURI":`, t.uri)
	b = appendText(b, `,"verb":`, requestlog.Cut(r.Attributes.Verb))
	b = appendUser(append(b, `,"user":`...), r.User)
	if o.Impersonated != nil {
		b = appendUser(append(b, `,"impersonatedUser":`...), o.Impersonated)
	}
	b = appendText(b, `,"sourceIPs":[`, t.address)
	b = append(b, ']')
	if t.agent != "" {
		b = appendText(b, `,"userAgent":`, t.agent)
	}
	if r.Attributes.Path == "" {
		b = t.appendObjectRef(b, o)
	}
	if s != RequestReceived {
		b = t.appendStatus(b, o)
	}
	if s == ResponseComplete || s == Panic {
		b = t.appendBodies(b)
	}
	b = r.At.UTC().AppendFormat(append(b, `,"requestReceivedTimestamp":"`...), microTime)
	b = now.UTC().AppendFormat(append(b, `","stageTimestamp":"`...), microTime)
	b = t.appendAnnotations(append(b, '"'), s, o)
	return append(b, '}')
}

// appendText appends a text as JSON behind what comes before it.
func appendText(b []byte, before, text string) []byte {
	return schema.AppendString(append(b, before...), text)
}

func appendUser(b []byte, u *auth.User) []byte {
	if u == nil {
		return append(b, "{}"...)
	}
	b = appendText(b, `{"username":`, requestlog.Cut(u.Name))
	if u.UID != "" {
		b = appendText(b, `,"uid":`, requestlog.Cut(u.UID))
	}
	if len(u.Groups) > 0 {
		b = appendTexts(append(b, `,"groups":`...), requestlog.CutAll(u.Groups))
	}
	names := make([]string, 0, len(u.Extra))
	for name := range u.Extra {
		names = append(names, name)
	}
	slices.Sort(names)
	before := `,"extra":{`
	for _, name := range names[:min(len(names), maxExtra)] {
		b = appendText(b, before, requestlog.Cut(name))
		b = appendTexts(append(b, ':'), requestlog.CutAll(u.Extra[name]))
		before = ","
	}
	if len(names) > 0 {
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendTexts(b []byte, texts []string) []byte {
	before := "["
	for _, text := range texts {
		b = appendText(b, before, text)
		before = ","
	}
	if len(texts) == 0 {
		b = append(b, '[')
	}
	return append(b, ']')
}

func (t *Trail) appendObjectRef(b []byte, o *Outcome) []byte {
	a := &t.received.Attributes
	b = appendText(b, `,"objectRef":{"resource":`, a.Resource)
	for _, f := range []struct{ before, text string }{
		{`,"namespace":`, requestlog.Cut(o.Namespace)}, {`,"name":`, requestlog.Cut(o.Name)}, {`,"apiGroup":`, a.Group},
		{`,"apiVersion":`, a.Version}, {`,"subresource":`, a.Subresource},
	} {
		if f.text != "" {
			b = appendText(b, f.before, f.text)
		}
	}
	return append(b, '}')
}

// appendStatus appends the outcome. The message of a failure about secrets may quote them.
func (t *Trail) appendStatus(b []byte, o *Outcome) []byte {
	b = append(b, `,"responseStatus":{"metadata":{}`...)
	if f := o.Failure; f != nil {
		b = appendText(b, `,"status":`, f.Status)
		if !t.sensitive {
			b = appendText(b, `,"message":`, requestlog.CutAt(f.Message, maxMessageBytes))
		}
		b = appendText(b, `,"reason":`, string(f.Reason))
	}
	if o.Code != 0 {
		b = strconv.AppendInt(append(b, `,"code":`...), int64(o.Code), 10)
	}
	return append(b, '}')
}

func (t *Trail) appendBodies(b []byte) []byte {
	if t.recording == nil {
		return b
	}
	if sent := t.recording.request; sent.json != nil {
		b = append(append(b, `,"requestObject":`...), sent.json...)
	}
	if returned := t.recording.response; returned.json != nil {
		b = append(append(b, `,"responseObject":`...), returned.json...)
	}
	return b
}

func (t *Trail) appendAnnotations(b []byte, s Stage, o *Outcome) []byte {
	before := `,"annotations":{`
	add := func(name, value string) {
		b = appendText(b, before, name)
		b = appendText(b, ":", value)
		before = ","
	}
	truncated := false
	if o.Annotations != nil && s != RequestReceived {
		for _, a := range o.Annotations.list {
			add(a.key, a.value)
		}
		truncated = o.Annotations.cut
	}
	if r := t.recording; r != nil && (s == ResponseComplete || s == Panic) {
		cutRequest, cutResponse := r.request.size > 0 && r.request.json == nil, r.response.size > 0 && r.response.json == nil
		truncated = truncated || cutRequest || cutResponse
		if cutRequest {
			t.log.metrics.cutBodies.Inc()
			add(requestSizeAnnotation, strconv.Itoa(r.request.size))
		}
		if cutResponse {
			t.log.metrics.cutBodies.Inc()
			add(responseSizeAnnotation, strconv.Itoa(r.response.size))
		}
	}
	if truncated {
		add(truncatedAnnotation, yes)
	}
	switch {
	case o.Decided && o.Allowed:
		add(decisionAnnotation, allowed)
	case o.Decided:
		add(decisionAnnotation, forbidden)
	}
	if before == "," {
		b = append(b, '}')
	}
	return b
}
