package validation

func schedulingRows() []row {
	tolerates := func(v string) string { return pod(`"tolerations":[{` + v + `}]`) }
	needs := func(v string) string {
		return pod(`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k",` + v + `}]}]}}}`)
	}
	const values = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: "
	return []row{
		{name: "of everything", kind: "pods", body: tolerates(`"operator":"Exists"`)},
		{name: "of a value", kind: "pods", body: tolerates(`"key":"k","value":"v","effect":"NoExecute","tolerationSeconds":1`),
			want: map[string]string{"spec.tolerations[0].operator": ""}},
		{name: "of no key", kind: "pods", body: tolerates(`"operator":"Equal","value":"v"`),
			errs: []string{"spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all values and all keys\""}},
		{name: "for a time without an end", kind: "pods", body: tolerates(`"key":"k","tolerationSeconds":1`),
			errs: []string{"spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"}},
		{name: "of any value with one", kind: "pods", body: tolerates(`"key":"k","operator":"Exists","value":"v"`),
			errs: []string{`spec.tolerations[0].operator: Invalid value: {"key":"k","operator":"Exists","value":"v"}: value must be empty when ` + "`operator` is 'Exists'"}},
		{name: "nodes with a value", kind: "pods", body: needs(`"operator":"In","values":["a","b"]`)},
		{name: "nodes with more than", kind: "pods", body: needs(`"operator":"Gt","values":["1"]`)},
		{name: "nodes with the key", kind: "pods", body: needs(`"operator":"Exists"`)},
		{name: "nodes with a value of none", kind: "pods", body: needs(`"operator":"NotIn"`),
			errs: []string{values + "Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		{name: "nodes without the key but a value", kind: "pods", body: needs(`"operator":"DoesNotExist","values":["a"]`),
			errs: []string{values + "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"}},
		{name: "nodes with less than two", kind: "pods", body: needs(`"operator":"Lt","values":["1","2"]`),
			errs: []string{values + "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"}},
	}
}
