package admission

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"quorate/apiserver/objects/expression"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/webhook"
)

const (
	// maxWebhookCalls bounds the concurrent calls of one webhook.
	maxWebhookCalls = 64
	// maxResponseBytes bounds an answer: a patch that replaces the largest object fits, in base64.
	maxResponseBytes = 8 << 20
	// idleConnections is how many connections to a webhook stay open for later calls.
	idleConnections = 8
	// defaultTimeout is the timeout of a webhook that names none.
	defaultTimeout = 10 * time.Second
)

// hook is one webhook of a configuration. It is immutable.
type hook struct {
	configuration, name string
	rules               []rule
	ignores             bool // failurePolicy
	equivalent          bool // matchPolicy
	namespaces, objects labels.Selector
	conditions          []*expression.Condition
	dryRun              bool // the webhook may be called for a dry run
	reinvocable         bool
	timeout             time.Duration
	reviewVersion       string
	client              *webhook.Client
	broken              error // why the webhook cannot be called
}

// newHook returns a webhook as a configuration describes it. What validation would refuse makes it
// fail when it is called, so that a write is never admitted because of it.
func newHook(configuration string, v *schema.Value, transport webhook.Config) *hook {
	h := &hook{
		configuration: configuration, name: text(v.Field("name")),
		ignores:     v.Field("failurePolicy").Str() == "Ignore",
		equivalent:  v.Field("matchPolicy").Str() != "Exact",
		dryRun:      v.Field("sideEffects").Str() == "None" || v.Field("sideEffects").Str() == "NoneOnDryRun",
		reinvocable: v.Field("reinvocationPolicy").Str() == "IfNeeded",
		timeout:     defaultTimeout,
	}
	if seconds := v.Field("timeoutSeconds"); seconds.IsSet() {
		h.timeout = time.Duration(seconds.Int()) * time.Second
	}
	for _, r := range v.Field("rules").Items() {
		h.rules = append(h.rules, newRule(r))
	}
	for _, c := range v.Field("matchConditions").Items() {
		h.conditions = append(h.conditions, &expression.Condition{Name: text(c.Field("name")), Expression: text(c.Field("expression"))})
	}
	for _, version := range v.Field("admissionReviewVersions").Items() {
		if name := version.Str(); h.reviewVersion == "" && (name == "v1" || name == "v1beta1") {
			h.reviewVersion = text(version)
		}
	}
	h.broken = h.connect(v, transport)
	return h
}

// connect sets the selectors and the client.
func (h *hook) connect(v *schema.Value, cfg webhook.Config) (err error) {
	if h.namespaces, err = selectorOf(v.Field("namespaceSelector")); err != nil {
		return fmt.Errorf("read namespaceSelector: %w", err)
	}
	if h.objects, err = selectorOf(v.Field("objectSelector")); err != nil {
		return fmt.Errorf("read objectSelector: %w", err)
	}
	if h.reviewVersion == "" {
		return fmt.Errorf("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
	}
	client := v.Field("clientConfig")
	cfg.URL, cfg.CABundle = text(client.Field("url")), []byte(text(client.Field("caBundle")))
	cfg.Calls, cfg.IdleConnections, cfg.ResponseBytes = maxWebhookCalls, idleConnections, maxResponseBytes
	if service := client.Field("service"); service.IsSet() {
		cfg.Service = &webhook.Service{
			Namespace: text(service.Field("namespace")), Name: text(service.Field("name")), Path: text(service.Field("path")),
			Port: service.Field("port").Int(),
		}
	}
	h.client, err = webhook.New(cfg)
	return err
}

func (h *hook) close() {
	if h.client != nil {
		h.client.Close()
	}
}

// text returns a string that does not share memory with the object.
func text(v *schema.Value) string { return string([]byte(v.Str())) }

// selectorOf returns a label selector; one that is unset or cannot be read selects everything.
func selectorOf(v *schema.Value) (labels.Selector, error) {
	if !v.IsSet() {
		return labels.Everything(), nil
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for key, value := range v.Field("matchLabels").Entries() {
		selector.MatchLabels[string([]byte(key))] = text(value)
	}
	for _, requirement := range v.Field("matchExpressions").Items() {
		r := metav1.LabelSelectorRequirement{
			Key: text(requirement.Field("key")), Operator: metav1.LabelSelectorOperator(text(requirement.Field("operator"))),
		}
		for _, value := range requirement.Field("values").Items() {
			r.Values = append(r.Values, text(value))
		}
		selector.MatchExpressions = append(selector.MatchExpressions, r)
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Everything(), err
	}
	return parsed, nil
}
