package admission

import (
	"encoding/json"
	"errors"
	"fmt"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

const (
	reviewGroup   = "admission.k8s.io/"
	reviewKind    = "AdmissionReview"
	jsonPatchType = "JSONPatch"
)

// review is an AdmissionReview of admission.k8s.io in v1 or v1beta1, which have the same form.
type review struct {
	Kind       string      `json:"kind"`
	APIVersion string      `json:"apiVersion"`
	Request    *attributes `json:"request,omitempty"`
	Response   *response   `json:"response,omitempty"`
}

// attributes are those of a request. The members with omitempty are missing if they are empty.
type attributes struct {
	UID                string          `json:"uid"`
	Kind               kindName        `json:"kind"`
	Resource           resourceName    `json:"resource"`
	SubResource        string          `json:"subResource,omitempty"`
	RequestKind        kindName        `json:"requestKind"`
	RequestResource    resourceName    `json:"requestResource"`
	RequestSubResource string          `json:"requestSubResource,omitempty"`
	Name               string          `json:"name,omitempty"`
	Namespace          string          `json:"namespace,omitempty"`
	Operation          Operation       `json:"operation"`
	UserInfo           userInfo        `json:"userInfo"`
	Object             json.RawMessage `json:"object"`
	OldObject          json.RawMessage `json:"oldObject"`
	DryRun             bool            `json:"dryRun"`
	Options            json.RawMessage `json:"options"`
}

type kindName struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type resourceName struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

type userInfo struct {
	Username string              `json:"username,omitempty"`
	UID      string              `json:"uid,omitempty"`
	Groups   []string            `json:"groups,omitempty"`
	Extra    map[string][]string `json:"extra,omitempty"`
}

// response is the answer of a webhook.
type response struct {
	UID              string            `json:"uid"`
	Allowed          bool              `json:"allowed"`
	Status           *status.Status    `json:"status"`
	Patch            []byte            `json:"patch"`
	PatchType        *string           `json:"patchType"`
	AuditAnnotations map[string]string `json:"auditAnnotations"`
	Warnings         []string          `json:"warnings"`
}

// attributes describes a write to a webhook, without uid and objects.
func (c *Calls) attributes(h *call, w *Write) *attributes {
	t := &c.target
	a := &attributes{
		Kind: nameOfKind(h.as.object), Resource: nameOfResource(h.as.kind), SubResource: t.Subresource,
		RequestKind: nameOfKind(formFor(t, t.Kind).object), RequestResource: nameOfResource(t.Kind), RequestSubResource: t.Subresource,
		Name: w.Name, Namespace: w.Namespace, Operation: t.Operation, UserInfo: infoOf(w.User), DryRun: w.DryRun, Options: w.Options,
	}
	if t.isNamespace() {
		a.Namespace = w.Name
	}
	return a
}

func nameOfKind(k *schema.Kind) kindName { return kindName{k.Group, k.Version, k.Kind} }

func nameOfResource(k *schema.Kind) resourceName {
	return resourceName{k.Group, k.Version, k.Plural}
}

func infoOf(u *auth.User) userInfo {
	return userInfo{Username: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
}

// check returns what is wrong with an answer, in the words of Kubernetes.
func (r *review) check(version, uid string, mutating bool) error {
	answer := r.Response
	if answer == nil {
		return errors.New("webhook response was absent")
	}
	if version == "v1beta1" { // in which neither uid nor kind were ever checked
		if len(answer.Patch) > 0 {
			patchType := jsonPatchType
			answer.PatchType = &patchType
		} else {
			answer.PatchType = nil
		}
		if !mutating {
			answer.Patch, answer.PatchType = nil, nil
		}
		return nil
	}
	switch {
	case answer.UID != uid:
		return fmt.Errorf("expected response.uid=%q, got %q", uid, answer.UID)
	case r.APIVersion != reviewGroup+version || r.Kind != reviewKind:
		return fmt.Errorf("expected webhook response of %s, Kind=%s, got %s, Kind=%s", reviewGroup+version, reviewKind, r.APIVersion, r.Kind)
	case !mutating && len(answer.Patch) > 0:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && answer.PatchType != nil:
		return errors.New("validating webhook may not return response.patchType")
	case len(answer.Patch) > 0 && answer.PatchType == nil:
		return errors.New("webhook returned response.patch but not response.patchType")
	case len(answer.Patch) == 0 && answer.PatchType != nil:
		return errors.New("webhook returned response.patchType but not response.patch")
	case answer.PatchType != nil && *answer.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *answer.PatchType)
	case answer.PatchType != nil && *answer.PatchType != jsonPatchType:
		return fmt.Errorf("unsupported patch type %q", *answer.PatchType)
	}
	return nil
}
