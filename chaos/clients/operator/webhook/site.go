// Package webhook defaults, validates and converts Sites.
package webhook

import (
	"context"
	"errors"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	sitev1 "quorate/chaos/clients/operator/api/v1"
)

// Add adds the webhooks to a manager's server. The paths are those of controller-runtime; /convert
// converts between the versions.
func Add(m ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(m, &sitev1.Site{}).WithDefaulter(sites{}).WithValidator(sites{}).Complete()
}

// Where the webhooks are registered:
//
// +kubebuilder:webhook:path=/mutate-demo-example-com-v1-site,mutating=true,failurePolicy=fail,sideEffects=None,groups=demo.example.com,resources=sites,verbs=create;update,versions=v1,name=msite.demo.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-demo-example-com-v1-site,mutating=false,failurePolicy=fail,sideEffects=None,groups=demo.example.com,resources=sites,verbs=create;update,versions=v1,name=vsite.demo.example.com,admissionReviewVersions=v1

// sites are the rules that no schema can express.
type sites struct{}

// Default gives a Site the host of its name.
func (sites) Default(_ context.Context, site *sitev1.Site) error {
	if site.Spec.Host == "" {
		site.Spec.Host = site.Name + ".example.com"
	}
	return nil
}

// ValidateCreate implements admission.Validator.
func (sites) ValidateCreate(_ context.Context, site *sitev1.Site) (admission.Warnings, error) {
	return nil, check(site)
}

// ValidateUpdate implements admission.Validator.
func (sites) ValidateUpdate(_ context.Context, _, site *sitev1.Site) (admission.Warnings, error) {
	return nil, check(site)
}

// ValidateDelete implements admission.Validator.
func (sites) ValidateDelete(context.Context, *sitev1.Site) (admission.Warnings, error) {
	return nil, nil
}

// check refuses pages with scripts.
func check(site *sitev1.Site) error {
	if strings.Contains(site.Spec.Page, "<script") {
		return errors.New("a page has no scripts")
	}
	return nil
}
