package validation

import "quorate/apiserver/objects/schema"

func namespaceRows() []row {
	return []row{
		{name: "new is active and held M3", kind: "namespaces", body: `{"metadata":{"name":"x"},"status":{"phase":"Terminating"}}`,
			want: map[string]string{"status": `{"phase":"Active"}`, "spec.finalizers": `["platform"]`}},
		{name: "new keeps its finalizers M3", kind: "namespaces", body: `{"metadata":{"name":"x"},"spec":{"finalizers":["a.b/c"]}}`,
			want: map[string]string{"spec.finalizers": `["a.b/c","platform"]`}},
		{name: "the platform's finalizer is there once M3", kind: "namespaces",
			body: `{"metadata":{"name":"x"},"spec":{"finalizers":["platform"]}}`,
			want: map[string]string{"spec.finalizers": `["platform"]`}},
		{name: "finalizer of nobody A22", kind: "namespaces", body: `{"metadata":{"name":"x"},"spec":{"finalizers":["mine"]}}`,
			errs: []string{`spec.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`}},
		{name: "update keeps finalizers and status E18", kind: "namespaces", op: schema.Update, old: `{"metadata":{"name":"x"}}`,
			body: `{"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"finalizers":[]},"status":{"phase":"Terminating"}}`,
			want: map[string]string{"status": `{"phase":"Active"}`, "spec.finalizers": `["platform"]`, "metadata.labels": `{"a":"b"}`}},
		{name: "finalize changes finalizers only H", kind: "namespaces", op: schema.Finalize, old: `{"metadata":{"name":"x"}}`,
			body: `{"metadata":{"name":"x"},"spec":{"finalizers":[]},"status":{"phase":"Terminating"}}`,
			want: map[string]string{"status": `{"phase":"Active"}`, "spec": `{}`}},
		{name: "status changes no finalizers", kind: "namespaces", op: schema.UpdateStatus, old: `{"metadata":{"name":"x"}}`,
			body: `{"metadata":{"name":"x"},"spec":{"finalizers":[]},"status":{"phase":"Active"}}`,
			want: map[string]string{"spec.finalizers": `["platform"]`}},
		{name: "terminating without being deleted M5", kind: "namespaces", op: schema.UpdateStatus, old: `{"metadata":{"name":"x"}}`,
			body: `{"metadata":{"name":"x"},"status":{"phase":"Terminating"}}`,
			errs: []string{"status.phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"}},
		{name: "back to active M5", kind: "namespaces", op: schema.UpdateStatus, going: true, old: `{"metadata":{"name":"x"}}`,
			body: `{"metadata":{"name":"x"},"status":{"phase":"Active"}}`,
			errs: []string{"status.phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"}},
		{name: "terminating while being deleted M5", kind: "namespaces", op: schema.UpdateStatus, going: true,
			old: `{"metadata":{"name":"x"}}`, body: `{"metadata":{"name":"x"},"status":{"phase":"Terminating"}}`},
	}
}
