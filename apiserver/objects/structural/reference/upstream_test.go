package reference

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// upstream is a schema as the library compiles it.
type upstream struct {
	props      *apiextensions.JSONSchemaProps
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// decodeUpstream decodes a schema. ok is false if it cannot be decoded.
func decodeUpstream(raw []byte) (*apiextensions.JSONSchemaProps, bool) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(raw, &v1); err != nil {
		return nil, false
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil); err != nil {
		return nil, false
	}
	return &props, true
}

// checkUpstream returns the errors that the library finds in a definition with a schema.
func checkUpstream(ctx context.Context, props *apiextensions.JSONSchemaProps, status bool) field.ErrorList {
	preserve := false
	crd := &apiextensions.CustomResourceDefinition{}
	crd.Name = "things.example.com"
	crd.Spec = apiextensions.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensions.NamespaceScoped, PreserveUnknownFields: &preserve,
		Names:      apiextensions.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
		Versions:   []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}},
		Validation: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: props},
		Conversion: &apiextensions.CustomResourceConversion{Strategy: apiextensions.NoneConverter},
	}
	crd.Status.StoredVersions = []string{"v1"}
	if status {
		crd.Spec.Subresources = &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}}
	}
	return apivalidation.ValidateCustomResourceDefinition(ctx, crd)
}

func compileUpstream(t *testing.T, props *apiextensions.JSONSchemaProps) *upstream {
	t.Helper()
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	return &upstream{props, structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// normalize returns what the library stores of an object and the fields that it drops.
func (u *upstream) normalize(t *testing.T, object []byte) (map[string]any, []string, *field.Error) {
	t.Helper()
	v := decode(t, object)
	failed, unknown := objectmeta.CoerceWithOptions(nil, v, u.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if failed != nil {
		return nil, nil, failed
	}
	dropped := pruning.PruneWithOptions(v, u.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(v, u.structural)
	defaulting.Default(v, u.structural)
	dropped = append(dropped, unknown...)
	slices.Sort(dropped)
	return v, dropped, nil
}

// validate returns the errors that the library finds in an object, or in a change of old to it.
func (u *upstream) validate(t *testing.T, object, old []byte) field.ErrorList {
	t.Helper()
	v := decode(t, object)
	var errs, oldErrs field.ErrorList
	var before any
	var ruleOptions []cel.Option
	if old == nil {
		errs = validation.ValidateCustomResource(nil, v, u.validator)
	} else {
		was := decode(t, old)
		before = was
		correlated := common.NewCorrelatedObject(v, was, &model.Structural{Structural: u.structural})
		errs = validation.ValidateCustomResourceUpdate(nil, v, was, u.validator, validation.WithRatcheting(correlated))
		ruleOptions = append(ruleOptions, cel.WithRatcheting(correlated))
		oldErrs = listtype.ValidateListSetsAndMaps(nil, u.structural, was)
	}
	errs = append(errs, objectmeta.Validate(t.Context(), nil, v, u.structural, false)...)
	if len(oldErrs) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, u.structural, v)...)
	}
	if u.rules == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	found, _ := u.rules.Validate(t.Context(), nil, u.structural, v, before, celconfig.RuntimeCELCostBudget, ruleOptions...)
	return append(errs, found...)
}

// decode decodes an object as the library does, with integers as int64.
func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := utiljson.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}
