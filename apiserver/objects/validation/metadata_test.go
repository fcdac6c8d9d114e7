package validation

import "quorate/apiserver/objects/schema"

const configMapWithInitializers = `{"metadata":{"name":"x","namespace":"n","initializers":{"pending":[{"name":"a.b.c"},{"name":"d.e.f"}]}}}`

func metaBody(meta string) string {
	return `{"metadata":{"name":"x","namespace":"n",` + meta + `}}`
}

func owner(uid string) string { return `{"apiVersion":"v1","kind":"K","name":"o","uid":"` + uid + `"}` }

func metadataRows() []row {
	return []row{
		{name: "finalizers of the platform and of domains A22", kind: "configmaps",
			body: metaBody(`"finalizers":["orphan","platform","a.b/c"]`)},
		{name: "finalizer of nobody A22", kind: "configmaps", body: metaBody(`"finalizers":["mine"]`), errs: []string{
			`metadata.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`}},
		{name: "finalizers that exclude each other A22", kind: "configmaps",
			body: metaBody(`"finalizers":["orphan","foregroundDeletion"]`), errs: []string{
				`metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`}},
		{name: "finalizers go while terminating E15", kind: "configmaps", op: schema.Update, going: true,
			old: metaBody(`"finalizers":["a.b/c","a.b/d"]`), body: metaBody(`"finalizers":["a.b/c"]`),
			want: map[string]string{"metadata.finalizers": `["a.b/c"]`}},
		{name: "finalizers don't come while terminating E15", kind: "configmaps", op: schema.Update, going: true,
			old: metaBody(`"finalizers":["a.b/c"]`), body: metaBody(`"finalizers":["a.b/c","a.b/d"]`), errs: []string{
				`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/d"}`}},
		{name: "finalizers come before E15", kind: "configmaps", op: schema.Update,
			old: metaBody(`"finalizers":["a.b/c"]`), body: metaBody(`"finalizers":["a.b/c","a.b/d"]`)},
		{name: "owners of one uid are one A23", kind: "configmaps",
			body: metaBody(`"ownerReferences":[` + owner("u") + "," + owner("v") + "," + owner("u") + `]`),
			want: map[string]string{"metadata.ownerReferences[1].uid": `"v"`, "metadata.ownerReferences[2]": ""}},
		{name: "two controllers A23", kind: "configmaps",
			body: metaBody(`"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"1","controller":true},{"apiVersion":"v1","kind":"K","name":"p","uid":"2","controller":true}]`),
			errs: []string{`metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"K","name":"o","uid":"1","controller":true},{"apiVersion":"v1","kind":"K","name":"p","uid":"2","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for K/o and K/p`}},
		{name: "events own nothing A23", kind: "configmaps",
			body: metaBody(`"ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"o","uid":"1"}]`),
			errs: []string{`metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"1"}: /v1, Kind=Event is disallowed from being an owner`}},
		{name: "initializers are stored A30", kind: "configmaps", body: configMapWithInitializers,
			want: map[string]string{"metadata.initializers.pending[1].name": `"d.e.f"`}},
		{name: "initializer without a domain", kind: "configmaps", body: metaBody(`"initializers":{"pending":[{"name":"a.b"}]}`),
			errs: []string{`metadata.initializers.pending[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`}},
		{name: "initializers go A30", kind: "configmaps", op: schema.Update, old: configMapWithInitializers,
			body: metaBody(`"initializers":{"pending":[{"name":"d.e.f"}]}`),
			want: map[string]string{"metadata.initializers.pending": `[{"name":"d.e.f"}]`}},
		{name: "the last initializer gone leaves none A30", kind: "configmaps", op: schema.Update, old: configMapWithInitializers,
			body: metaBody(`"initializers":{"pending":[]}`), want: map[string]string{"metadata.initializers": ""}},
		{name: "nor does their result A30", kind: "configmaps", op: schema.Update, old: metaBody(`"labels":{}`),
			body: metaBody(`"initializers":{"pending":[],"result":{"status":"Failure"}}`),
			errs: []string{`metadata.initializers.result: Invalid value: {"metadata":{},"status":"Failure"}: may not be set once initialization has completed`}},
		{name: "initializers don't come A30", kind: "configmaps", op: schema.Update, old: metaBody(`"labels":{}`),
			body: configMapWithInitializers, errs: []string{
				`metadata.initializers.pending[0].name: Invalid value: "a.b.c": may only be removed after the object was created`,
				`metadata.initializers.pending[1].name: Invalid value: "d.e.f": may only be removed after the object was created`}},
		{name: "initialization only fails", kind: "configmaps", op: schema.Update, old: configMapWithInitializers,
			body: metaBody(`"initializers":{"pending":[],"result":{"status":"Success"}}`),
			errs: []string{`metadata.initializers.result.status: Invalid value: "Success": must be "Failure"`}},
		{name: "a failed initialization is kept", kind: "configmaps", op: schema.Update, old: configMapWithInitializers,
			body: metaBody(`"initializers":{"pending":[],"result":{"status":"Failure"}}`),
			want: map[string]string{"metadata.initializers.result.status": `"Failure"`}},
		{name: "metadata of templates is free E13", kind: "daemonsets", op: schema.Update,
			old:  daemonSet(`"selector":{"matchLabels":{"a":"b"}}`, `"metadata":{"name":"p","labels":{"a":"b"}}`),
			body: daemonSet(`"selector":{"matchLabels":{"a":"b"}}`, `"metadata":{"name":"q","uid":"u","creationTimestamp":"2020-01-01T00:00:00Z","labels":{"a":"b"}}`),
			want: map[string]string{"spec.template.metadata.name": `"q"`}},
		{name: "labels of templates are checked", kind: "daemonsets",
			body: daemonSet(`"selector":{"matchLabels":{"a":"b"}}`, `"metadata":{"labels":{"a":"b","c":"_"}}`),
			errs: []string{`spec.template.metadata.labels: Invalid value: "_": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`}},
		{name: "requirements with values as their operator wants", kind: "daemonsets",
			body: daemonSet(`"selector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"z","operator":"DoesNotExist"}]}`, `"metadata":{"labels":{"a":"b"}}`)},
		{name: "requirement In without values", kind: "daemonsets",
			body: daemonSet(`"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"NotIn"}]}`, `"metadata":{"labels":{"a":"b"}}`),
			errs: []string{"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		{name: "requirement Exists with values", kind: "daemonsets",
			body: daemonSet(`"selector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}`, `"metadata":{"labels":{"a":"b"}}`),
			errs: []string{"spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"}},
	}
}
