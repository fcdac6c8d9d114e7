package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"quorate/apiserver/wire/webhook"
)

const (
	// callTimeout bounds one call, with the wait for its turn and for memory for the answer.
	callTimeout = 10 * time.Second
	// maxCalls bounds the concurrent calls for one definition.
	maxCalls = 16
	// maxResponseBytes bounds an answer. Lists convert some 2 MiB of objects with each call.
	maxResponseBytes = 16 << 20
	// decodedTexts is how often the text of an answer is in memory when its objects are checked, beside
	// the text itself.
	decodedTexts = 3
	// idleConnections is how many connections stay open for the next calls.
	idleConnections = 1
)

// Webhook converts objects.
type Webhook struct {
	client  *webhook.Client
	answers *webhook.Answers
	metrics *Metrics
	version string // apiVersion of the reviews that are sent
}

// New returns a Webhook for a clientConfig, and the conversionReviewVersions that it accepts, of
// which the first that is v1 or v1beta1 is sent. It calls nothing. An error means that there is none,
// or that the certificates cannot be read.
func New(client webhook.Config, versions []string, answers *webhook.Answers, metrics *Metrics) (*Webhook, error) {
	known := slices.IndexFunc(versions, func(version string) bool { return version == "v1" || version == "v1beta1" })
	if known < 0 {
		return nil, fmt.Errorf("spec.conversion.webhook: the webhook accepts no known version of %s: %q", reviewKind, versions)
	}
	client.Calls, client.IdleConnections, client.ResponseBytes = maxCalls, idleConnections, maxResponseBytes
	c, err := webhook.New(client)
	if err != nil {
		return nil, fmt.Errorf("spec.conversion.webhook: %w", err)
	}
	return &Webhook{client: c, answers: answers, metrics: metrics, version: reviewGroup + versions[known]}, nil
}

// Close closes idle connections. Calls under way go on.
func (w *Webhook) Close() { w.client.Close() }

// Convert returns objects in the form of apiVersion and in the same order. They are JSON texts of
// any version of the kind. An error says what the webhook did wrong; it names the kind and no
// object.
func (w *Webhook) Convert(ctx context.Context, apiVersion string, objects [][]byte) ([][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := w.client.Enter(ctx); err != nil {
		w.metrics.observe("busy", 0)
		return nil, err
	}
	defer w.client.Leave()
	w.metrics.calls.Inc()
	defer w.metrics.calls.Dec()
	began := time.Now()
	converted, err := w.convert(ctx, apiVersion, objects)
	result := "success"
	switch {
	case errors.Is(err, webhook.ErrTooLong):
		result = "oversized"
	case errors.Is(err, webhook.ErrMemory):
		result = "memory"
	case err != nil:
		result = "error"
	}
	w.metrics.observe(result, time.Since(began))
	return converted, err
}

func (w *Webhook) convert(ctx context.Context, apiVersion string, objects [][]byte) ([][]byte, error) {
	request := &review{
		APIVersion: w.version, Kind: reviewKind, Request: &reviewRequest{UID: uuid.NewString(), DesiredAPIVersion: apiVersion},
	}
	for _, o := range objects {
		request.Request.Objects = append(request.Request.Objects, o)
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	text, err := w.client.Post(ctx, w.answers, "", body)
	if err != nil {
		return nil, err
	}
	defer text.Release()
	if err := text.Reserve(decodedTexts * int64(len(text.Data))); err != nil {
		return nil, err
	}
	answer := &review{}
	if err := json.Unmarshal(text.Data, answer); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return answer.check(request, objects)
}
