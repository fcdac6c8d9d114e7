package validation

import "quorate/apiserver/objects/schema"

func legacyBindingRows() []row {
	body := func(parts string) string {
		return `{"metadata":{"name":"x"},` + members(`"roleRef":{"name":"r"}`, parts) + `}`
	}
	subject := func(s string) string { return body(`"subjects":[{` + s + `}]`) }
	return []row{
		{name: "subjects J40 J42", kind: "legacybindings",
			body: body(`"subjects":[{"kind":"User","name":"u"},{"kind":"SystemUser","name":"system:a"},{"kind":"SystemGroup","name":"system:g"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","namespace":"n","name":"s"}]`),
			want: map[string]string{
				"roleRef":    `{"name":"r"}`,
				"userNames":  `["u","system:a","system:serviceaccount:n:s"]`,
				"groupNames": `["system:g","g"]`,
				"subjects": `[{"kind":"User","name":"u"},{"kind":"SystemUser","name":"system:a"},{"kind":"SystemGroup","name":"system:g"},` +
					`{"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]`,
			}},
		{name: "names replace subjects J41", kind: "legacybindings",
			body: body(`"subjects":[{"kind":"User","name":"gone"}],"userNames":["u","system:serviceaccount:n:s","system:a"],"groupNames":["g"]`),
			want: map[string]string{
				"subjects": `[{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s","namespace":"n"},{"kind":"SystemUser","name":"system:a"},{"kind":"Group","name":"g"}]`,
			}},
		{name: "no names replace subjects J41", kind: "legacybindings", body: body(`"subjects":[{"kind":"User","name":"gone"}],"groupNames":[]`),
			want: map[string]string{"subjects": "null", "userNames": "null", "groupNames": "null"}},
		{name: "null names leave subjects J41", kind: "legacybindings", body: body(`"subjects":[{"kind":"User","name":"u"}],"userNames":null,"groupNames":null`),
			want: map[string]string{"userNames": `["u"]`, "groupNames": "null"}},
		{name: "a user that is no service account J41", kind: "legacybindings", body: body(`"userNames":["system:serviceaccount:N:s"]`),
			want: map[string]string{"subjects": `[{"kind":"SystemUser","name":"system:serviceaccount:N:s"}]`}},
		{name: "subject of another kind J40", kind: "legacybindings", body: subject(`"kind":"Robot","name":"r"`),
			errs: []string{`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group", "SystemUser", "SystemGroup"`}},
		{name: "subject of nothing J40", kind: "legacybindings", body: subject(`"namespace":"n"`),
			errs: []string{"subjects[0].name: Required value", "subjects[0].kind: Required value"}},
		{name: "service account of no namespace J40", kind: "legacybindings", body: subject(`"kind":"ServiceAccount","name":"s"`),
			errs: []string{"subjects[0].namespace: Required value: Service account subjects for ClusterRoleBindings must have a namespace"}},
		{name: "role in a namespace J40", kind: "legacybindings", body: `{"metadata":{"name":"x"},"roleRef":{"name":"r","namespace":"n"}}`,
			errs: []string{`roleRef.namespace: Invalid value: "n": attempts to reference role in namespace "n" instead of cluster scope`}},
		{name: "role of no name", kind: "legacybindings", body: `{"metadata":{"name":"x"},"roleRef":{"kind":"ClusterRole"}}`,
			errs: []string{"roleRef.name: Required value"}},
		{name: "role of no good name", kind: "legacybindings", body: `{"metadata":{"name":"x"},"roleRef":{"name":"a/b"}}`,
			errs: []string{`roleRef.name: Invalid value: "a/b": may not contain '/'`}},
		{name: "another role E27", kind: "legacybindings", op: schema.Update, old: body(""), body: `{"metadata":{"name":"x"},"roleRef":{"name":"s"}}`,
			errs: []string{`roleRef: Invalid value: {"name":"s"}: cannot change roleRef`}},
		{name: "the same role in more words E27", kind: "legacybindings", op: schema.Update, old: body(""),
			body: `{"metadata":{"name":"x"},"roleRef":{"kind":"ClusterRole","name":"r"}}`, want: map[string]string{"roleRef": `{"name":"r"}`}},
	}
}
