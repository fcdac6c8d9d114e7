package validation

import "quorate/apiserver/objects/schema"

func job(spec string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"spec":{"template":{"metadata":{"labels":{"app":"a"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}` + spec + `}}`
}

const byHand = `,"manualSelector":true,"selector":{"matchLabels":{"app":"a"}}`

const byExitCode = `,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]}}]}`

func jobRows() []row {
	return []row{
		{name: "defaults", kind: "jobs", body: job(""), want: map[string]string{
			"spec.parallelism": "1", "spec.completions": "1", "spec.backoffLimit": "6", "spec.completionMode": `"NonIndexed"`,
			"spec.suspend": "false", "spec.template.metadata.labels.job-name": `"x"`, "spec.selector.matchExpressions": "",
			"spec.podReplacementPolicy": `"TerminatingOrFailed"`}},
		{name: "one success ends it", kind: "jobs", body: job(`,"parallelism":3`), want: map[string]string{"spec.completions": "", "spec.parallelism": "3"}},
		{name: "limit by index", kind: "jobs", body: job(`,"completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1,"maxFailedIndexes":1`),
			want: map[string]string{"spec.backoffLimit": "2147483647"}},
		{name: "policy of failures", kind: "jobs", body: job(byExitCode), want: map[string]string{"spec.podReplacementPolicy": `"Failed"`}},
		{name: "policy of failures, replaced too early", kind: "jobs", body: job(byExitCode + `,"podReplacementPolicy":"TerminatingOrFailed"`),
			errs: []string{`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`}},
		{name: "own selector", kind: "jobs", body: job(`,"selector":{"matchLabels":{"app":"a"}}`),
			errs: []string{"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"a\"}}: `selector` not auto-generated"}},
		{name: "own selector by hand", kind: "jobs", body: job(`,"manualSelector":true,"selector":{"matchLabels":{"app":"a"}}`)},
		{name: "another selector by hand", kind: "jobs", body: job(`,"manualSelector":true,"selector":{"matchLabels":{"app":"b"}}`),
			errs: []string{"spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not match template `labels`"}},
		{name: "no selector by hand", kind: "jobs", body: job(`,"manualSelector":true`), errs: []string{"spec.selector: Required value"}},
		{name: "indexed without completions", kind: "jobs", body: job(`,"completionMode":"Indexed","parallelism":1`),
			errs: []string{"spec.completions: Required value: when completion mode is Indexed"}},
		{name: "indexes of none", kind: "jobs", body: job(`,"successPolicy":{"rules":[{"succeededCount":1}]}`),
			errs: []string{`spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode`}},
		{name: "failed indexes of none", kind: "jobs", body: job(`,"maxFailedIndexes":1`),
			errs: []string{"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"}},
		{name: "two requirements", kind: "jobs",
			body: job(`,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[1]},"onPodConditions":[{"type":"A"}]}]}`),
			errs: []string{`spec.podFailurePolicy.rules[0].onExitCodes: Invalid value: {"operator":"In","values":[1]}: specifying both OnExitCodes and OnPodConditions is not supported`}},
		{name: "no requirement", kind: "jobs", body: job(`,"podFailurePolicy":{"rules":[{"action":"Ignore"}]}`),
			errs: []string{"spec.podFailurePolicy.rules[0].onExitCodes: Required value: specifying one of OnExitCodes and OnPodConditions is required"}},
		{name: "pods that go on", kind: "jobs", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{` + podTemplate("") + `}}`,
			errs: []string{`spec.template.spec.restartPolicy: Unsupported value: "Always": supported values: "OnFailure", "Never"`}},
		{name: "more completions", kind: "jobs", op: schema.Update, old: job(byHand), body: job(byHand + `,"completions":2`),
			errs: []string{"spec.completions: Invalid value: 2: field is immutable"}},
		{name: "more indexes", kind: "jobs", op: schema.Update, old: job(byHand + `,"completionMode":"Indexed","completions":1`),
			body: job(byHand + `,"completionMode":"Indexed","completions":2`), want: map[string]string{"spec.completions": "2"}},
		{name: "suspended", kind: "jobs", op: schema.Update, old: job(byHand), body: job(byHand + `,"completions":1,"suspend":true`),
			want: map[string]string{"spec.suspend": "true", "metadata.generation": "2"}},
	}
}
