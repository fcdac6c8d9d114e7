package validation

import (
	"fmt"
	"maps"

	"quorate/apiserver/objects/schema"
)

// Hooks returns the hooks of all families under the names that the kind and type files use.
func Hooks() schema.Hooks {
	all := schema.Hooks{
		Validators:  map[string]schema.Validator{},
		Conditions:  map[string]schema.Condition{},
		Defaulters:  map[string]schema.Defaulter{},
		Comparisons: map[string]schema.Comparison{},
		Steps:       map[string]schema.Step{},
		Converters:  map[string]schema.Converter{},
	}
	for _, family := range families() {
		add(all.Validators, family.Validators)
		add(all.Conditions, family.Conditions)
		add(all.Defaulters, family.Defaulters)
		add(all.Comparisons, family.Comparisons)
		add(all.Steps, family.Steps)
		add(all.Converters, family.Converters)
	}
	return all
}

func families() []schema.Hooks {
	return []schema.Hooks{
		autoscalerHooks(), claimHooks(), configMapHooks(), containerHooks(), cronJobHooks(), definitionHooks(), deploymentHooks(), endpointsHooks(),
		envHooks(), eventHooks(), imageHooks(), ingressHooks(), jobHooks(),
		leaseHooks(), legacyBindingHooks(), metadataHooks(), namespaceHooks(), networkHooks(), newAutoscalerHooks(), nodeHooks(), oauthClientHooks(),
		oldAutoscalerHooks(), persistentVolumeHooks(), podHooks(), podSpecHooks(), probeHooks(), rbacHooks(), replicationControllerHooks(), reviewHooks(),
		schedulingHooks(), secretHooks(), serviceHooks(), signatureHooks(), statusHooks(), templateTodayHooks(), thirdPartyHooks(), volumeHooks(),
		volumeSourceHooks(), webhookHooks(), workloadHooks(),
	}
}

// add copies hooks into a table. It panics on a duplicate name, which would silently replace a
// rule.
func add[H any](table, hooks map[string]H) {
	for name := range hooks {
		if _, taken := table[name]; taken {
			panic(fmt.Sprintf("validation: two hooks are named %q", name))
		}
	}
	maps.Copy(table, hooks)
}
