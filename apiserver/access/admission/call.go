package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
	"quorate/apiserver/wire/webhook"
)

// outcome is what a call came to.
type outcome struct {
	response *response       // nil if the call failed
	answer   *webhook.Answer // whose memory the response takes; nil if the call failed
	err      error           // why the write is refused; nil if it goes on
	ignored  error           // why the call failed, if the write goes on
}

// question is what a webhook is asked about a write.
type question struct {
	*call
	attributes *attributes
	err        error // why the webhook cannot be asked
}

// question returns what a webhook is asked. It shares the documents of questions about the same
// write. Only one goroutine may call it.
func (c *Calls) question(ctx context.Context, h *call, w *Write, known []question) question {
	q := question{call: h, attributes: c.attributes(h, w)}
	q.attributes.UID = uuid.NewString()
	if w.DryRun && !h.dryRun {
		q.err = newDryRunUnsupported(h.name)
		return q
	}
	for i := range known { // the same form has the same documents
		if k := &known[i]; k.err == nil && k.as.object == h.as.object {
			q.attributes.Object, q.attributes.OldObject = k.attributes.Object, k.attributes.OldObject
			return q
		}
	}
	if q.attributes.Object, q.err = document(ctx, w.Object, h.as.object); q.err == nil {
		q.attributes.OldObject, q.err = document(ctx, w.Old, h.as.object)
	}
	return q
}

// call asks a webhook.
func (c *Calls) call(ctx context.Context, q question, kind string) outcome {
	began, h := time.Now(), q.call
	text, answer, err := c.ask(ctx, q, kind == typeMutating)
	out := outcome{response: answer, answer: text, err: err}
	result := resultAllowed
	var failed *callError
	switch {
	case errors.As(err, &failed) && h.ignores:
		result, out.err, out.ignored = resultIgnored, nil, err
		if name := limit.Of(marked(failed.err)); name != "" {
			c.reached(name)
		}
		if ctx.Err() != nil {
			out.err = status.NewTimeout()
		}
	case err != nil:
		result, out.err = resultFailed, failure(ctx, err)
	case !answer.Allowed:
		result, out.err = resultDenied, newDenial(h.name, answer.Status)
	}
	c.metrics.observe(kind, c.target.Operation, result, time.Since(began))
	return out
}

// ask sends a review and returns the answer, and its text, which the caller must release. Errors of
// the webhook are *callError.
func (c *Calls) ask(ctx context.Context, q question, mutating bool) (*webhook.Answer, *response, error) {
	h := q.call
	if q.err != nil {
		return nil, nil, q.err
	}
	if h.broken != nil {
		return nil, nil, &callError{h.name, h.broken}
	}
	text, err := c.post(ctx, q)
	if err != nil {
		return nil, nil, &callError{h.name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	answer, err := read(text)
	if err != nil {
		text.Release()
		return nil, nil, &callError{h.name, fmt.Errorf("failed to call webhook: read the answer: %w", err)}
	}
	if err := answer.check(h.reviewVersion, q.attributes.UID, mutating); err != nil {
		text.Release()
		return nil, nil, &callError{h.name, fmt.Errorf("received invalid webhook response: %w", err)}
	}
	return text, answer.Response, nil
}

// read decodes an answer. It reserves the memory for that first: a list of empty items takes many
// times the memory of its text.
func read(text *webhook.Answer) (*review, error) {
	if err := text.Reserve(schema.JSONExpansion(text.Data)); err != nil {
		return nil, err
	}
	answer := &review{}
	return answer, json.Unmarshal(text.Data, answer)
}

// document returns the JSON of an object in the form of a kind; null for none.
func document(ctx context.Context, o *schema.Object, k *schema.Kind) (json.RawMessage, error) {
	o, err := convert(ctx, o, k)
	if err != nil || o == nil {
		return json.RawMessage("null"), err
	}
	return o.AppendJSON(nil), nil
}

// post sends a review within the timeout of the webhook and the bounds on concurrent calls. The
// query tells the webhook how many seconds it has.
func (c *Calls) post(ctx context.Context, q question) (*webhook.Answer, error) {
	h := q.call
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	if err := h.client.Enter(ctx); err != nil {
		return nil, err
	}
	defer h.client.Leave()
	if err := webhook.Enter(ctx, c.slots); err != nil {
		return nil, err
	}
	defer func() { <-c.slots }()
	c.metrics.underWay.Inc()
	defer c.metrics.underWay.Dec()
	body, err := json.Marshal(review{Kind: reviewKind, APIVersion: reviewGroup + h.reviewVersion, Request: q.attributes})
	if err != nil {
		return nil, fmt.Errorf("write an AdmissionReview: %w", err)
	}
	query := ""
	if deadline, ok := ctx.Deadline(); ok {
		left := max(1, math.Ceil(time.Until(deadline).Seconds()))
		query = url.Values{"timeout": {fmt.Sprintf("%ds", int(left))}}.Encode()
	}
	return h.client.Post(ctx, c.answers, query, body)
}

// The bounds of what the webhooks of one write add to the response and to its audit event.
const (
	maxWarnings     = 64
	maxWarningBytes = 256
	maxAnnotations  = 64
)

// report passes on what a webhook has to say.
func (c *Calls) report(h *call, w *Write, answer *response) {
	for _, text := range answer.Warnings[:min(len(answer.Warnings), maxWarnings)] {
		w.Request.Warn(cut(text, maxWarningBytes))
	}
	added := 0
	for key, value := range answer.AuditAnnotations {
		if added == maxAnnotations {
			return
		}
		if key = h.name + "/" + key; strings.Count(key, "/") == 1 && len(validation.IsQualifiedName(key)) == 0 {
			w.Request.Annotate(key, value)
			added++
		}
	}
}

// The prefixes of the annotations that the server itself adds to audit events.
const (
	mutationAnnotation   = "mutation.webhook.admission.k8s.io/"
	patchAnnotation      = "patch.webhook.admission.k8s.io/"
	validationAnnotation = "validation.webhook.admission.k8s.io/"
	failedOpen           = "failed-open."
)

// annotate adds an annotation about the call of a webhook in a round.
func (h *call) annotate(w *Write, prefix string, round int, value any) {
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		if err != nil {
			return // a patch that is no JSON has failed before
		}
		text = string(encoded)
	}
	w.Request.Annotate(fmt.Sprintf("%sround_%d_index_%d", prefix, round, h.index), text)
}
