package custom

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/controllers/custom/conversion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/structural"
	"quorate/apiserver/wire/webhook"
	"quorate/raftstore/state"
)

// describe returns the kinds that a CustomResourceDefinition defines under its accepted names.
// documents read the schemas from source, so that these are in memory only once.
func (f *factory) describe(o *schema.Object, d *definition, source *atomic.Pointer[state.Object]) (*schema.CustomDefinition, error) {
	spec := o.Root().Field("spec")
	n := &d.verdict.accepted
	custom := &schema.CustomDefinition{
		Kind: n.kind, ListKind: n.listKind, Group: d.group, Plural: n.plural, Singular: n.singular,
		ShortNames: n.shortNames, Categories: n.categories, Namespaced: spec.Field("scope").Str() == "Namespaced",
		Resource: resourceOf(d.group, n.plural, d.storage()), Adapts: d.generation > 1 || d.inherits != "", Terminating: d.terminating,
	}
	for _, v := range spec.Field("versions").Items() {
		described, err := f.describeVersion(v)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Field("name").Str(), err)
		}
		kind, name := o.Kind, described.Name // captured in place of what they are parts of
		described.Schema = func() ([]byte, error) { return schemaOf(kind, source.Load(), name) }
		custom.Adapts = custom.Adapts || schemaText(v) != schemaText(spec.Field("versions").At(0))
		custom.Versions = append(custom.Versions, *described)
	}
	return custom, nil
}

// webhook returns the webhook that converts the objects of a definition, or nil.
func (f *factory) webhook(spec *schema.Value) (*conversion.Webhook, error) {
	if spec.Field("strategy").Str() != "Webhook" {
		return nil, nil
	}
	client := spec.Lookup("webhook", "clientConfig")
	cfg := webhook.Config{URL: text(client, "url"), CABundle: []byte(client.Field("caBundle").Str())}
	if service := client.Field("service"); service.IsSet() {
		cfg.Service = &webhook.Service{
			Namespace: text(service, "namespace"), Name: text(service, "name"), Path: text(service, "path"), Port: service.Field("port").Int(),
		}
	}
	return conversion.New(cfg, texts(spec.Lookup("webhook", "conversionReviewVersions")), f.answers, f.webhooks)
}

func schemaText(v *schema.Value) string { return v.Lookup("schema", "openAPIV3Schema").Str() }

// schemaOf returns the schema of a version of a stored definition.
func schemaOf(k *schema.Kind, stored *state.Object, version string) ([]byte, error) {
	o, err := k.DecodeStored(stored.Value)
	if err != nil {
		return nil, err
	}
	for _, v := range o.Root().Lookup("spec", "versions").Items() {
		if v.Field("name").Str() == version {
			return []byte(schemaText(v)), nil
		}
	}
	return nil, fmt.Errorf("definition %s has no version %s", nameOf(stored.Key), version)
}

func (f *factory) describeVersion(v *schema.Value) (*schema.CustomVersion, error) {
	compiled, report, err := structural.Compile(context.Background(), []byte(schemaText(v)), structural.Options{
		Status: v.Lookup("subresources", "status").IsSet(), Programs: f.programs,
	})
	if err != nil {
		return nil, err
	}
	if len(report.Errors) > 0 {
		return nil, report.Errors.ToAggregate()
	}
	described := &schema.CustomVersion{
		Name: text(v, "name"), Served: v.Field("served").Bool(), Storage: v.Field("storage").Bool(),
		Structure: structure{compiled}, Status: v.Lookup("subresources", "status").IsSet(),
	}
	if scale := v.Lookup("subresources", "scale"); scale != nil {
		described.Scale = &schema.CustomScale{
			Replicas: pathOf(scale.Field("specReplicasPath")), Observed: pathOf(scale.Field("statusReplicasPath")),
			Selector: pathOf(scale.Field("labelSelectorPath")),
		}
	}
	for _, c := range v.Field("additionalPrinterColumns").Items() {
		described.Columns = append(described.Columns, schema.CustomColumn{
			Name: text(c, "name"), Type: text(c, "type"), Format: text(c, "format"), Description: text(c, "description"),
			JSONPath: text(c, "jsonPath"), Priority: int(c.Field("priority").Int()),
		})
	}
	for _, f := range v.Field("selectableFields").Items() {
		described.SelectableFields = append(described.SelectableFields, strings.TrimPrefix(text(f, "jsonPath"), "."))
	}
	return described, nil
}

// pathOf returns the names of a path such as ".spec.replicas", or nil if it is empty.
func pathOf(v *schema.Value) []string {
	if v.IsEmpty() {
		return nil
	}
	return strings.Split(strings.TrimPrefix(strings.Clone(v.Str()), "."), ".")
}

// structure is the structural schema of a version.
type structure struct{ compiled *structural.Schema }

// Normalize implements schema.Structure.
func (s structure) Normalize(object []byte) (normal []byte, dropped []string, more int, err error) {
	n, err := s.compiled.Normalize(nil, object)
	return n.Object, n.Dropped, n.More, err
}

// Conforms implements schema.Structure.
func (s structure) Conforms(object []byte) bool { return s.compiled.Conforms(object) }

// Validate implements schema.Structure. The cost of rules is bounded, so that no context has to end
// them.
func (s structure) Validate(object, old []byte) (errs field.ErrorList) {
	var err error
	if old == nil {
		errs, err = s.compiled.ValidateCreate(context.Background(), object)
	} else {
		errs, err = s.compiled.ValidateUpdate(context.Background(), object, old)
	}
	if err != nil {
		errs = append(errs, field.InternalError(nil, err))
	}
	return errs
}
