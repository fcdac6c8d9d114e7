package validation

import "quorate/apiserver/objects/schema"

func secretRows() []row {
	body := func(more ...string) string { return named(members(more...)) }
	typed := func(name, kind, data string, errs ...string) row {
		return row{name: name, kind: "secrets", body: body(`"type":"`+kind+`"`, `"data":{`+data+`}`), errs: errs}
	}
	sealed := body(`"immutable":true`, `"data":{"a":"YQ=="}`)
	const required = ": Required value"
	return []row{
		{name: "opaque", kind: "secrets", body: body(`"data":{"a":"YQ=="}`), want: map[string]string{"type": `"Opaque"`}},
		{name: "plain text is data", kind: "secrets", body: body(`"data":{"a":"eA==","b":"Yg=="}`, `"stringData":{"a":"a","c":""}`),
			want: map[string]string{"data": `{"a":"YQ==","b":"Yg==","c":""}`, "stringData": ""}},
		{name: "plain text alone", kind: "secrets", body: body(`"stringData":{"a":"a"}`), want: map[string]string{"data": `{"a":"YQ=="}`}},
		{name: "plain text on update", kind: "secrets", op: schema.Update, old: body(`"data":{"a":"eA=="}`),
			body: body(`"data":{"a":"eA=="}`, `"stringData":{"a":"a"}`), want: map[string]string{"data": `{"a":"YQ=="}`}},
		{name: "plain text of a bad key", kind: "secrets", body: body(`"stringData":{"/":"a"}`),
			errs: []string{`data[/]: Invalid value: "/": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`}},
		{name: "type stays E21", kind: "secrets", op: schema.Update, old: body(`"type":"a"`), body: body(`"type":"b"`),
			errs: []string{`type: Invalid value: "b": field is immutable`}},
		{name: "not sealed yet", kind: "secrets", op: schema.Update, old: body(`"immutable":false`, `"data":{"a":"YQ=="}`), body: body(`"immutable":true`)},
		{name: "sealed", kind: "secrets", op: schema.Update, old: sealed, body: body(`"immutable":true`, `"data":{"a":"eA=="}`),
			errs: []string{"data: Forbidden: field is immutable when `immutable` is set"}},
		{name: "unsealed", kind: "secrets", op: schema.Update, old: sealed, body: body(`"data":{"a":"YQ=="}`),
			errs: []string{"immutable: Forbidden: field is immutable when `immutable` is set"}},
		{name: "sealed as it was", kind: "secrets", op: schema.Update, old: sealed, body: sealed},
		typed("token", secretOfAccount, "", "metadata.annotations[kubernetes.io/service-account.name]"+required),
		{name: "token of an account", kind: "secrets",
			body: `{"metadata":{"name":"x","namespace":"n","annotations":{"kubernetes.io/service-account.name":"a"}},"type":"kubernetes.io/service-account-token"}`},
		typed("old registry", secretDockerCfg, "", "data[.dockercfg]"+required),
		typed("old registry with JSON", secretDockerCfg, `".dockercfg":"e30="`),
		typed("registry", secretDockerConfig, "", "data[.dockerconfigjson]"+required),
		typed("registry without JSON", secretDockerConfig, `".dockerconfigjson":"ew=="`,
			`data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be JSON`),
		typed("password", secretBasicAuth, "", "data[username]"+required, "data[password]"+required),
		typed("password without a user", secretBasicAuth, `"password":"YQ=="`),
		typed("key", secretSSHAuth, `"ssh-privatekey":""`, "data[ssh-privatekey]"+required),
		typed("key that is there", secretSSHAuth, `"ssh-privatekey":"YQ=="`),
		typed("certificate", secretTLS, `"tls.crt":""`, "data[tls.key]"+required),
		typed("certificate with its key", secretTLS, `"tls.crt":"","tls.key":""`),
		{name: "secrets of an account by name", kind: "serviceaccounts", body: named(`"secrets":[{"name":"a","namespace":"b","uid":"c"},{"kind":"Secret"}]`),
			want: map[string]string{"secrets": `[{"name":"a"},{}]`}},
		{name: "secrets of an account on update", kind: "serviceaccounts", op: schema.Update, old: named(`"secrets":[]`), body: named(`"secrets":[{"name":"a","namespace":"b"}]`),
			want: map[string]string{"secrets": `[{"name":"a"}]`}},
	}
}

func leaseRows() []row {
	return []row{
		{name: "times to the microsecond", kind: "leases", body: named(`"spec":{"renewTime":"2018-01-02T04:04:05.000009+01:00"}`),
			want: map[string]string{"spec.renewTime": `"2018-01-02T03:04:05.000009Z"`}},
		{name: "durations and counts", kind: "leases", body: named(`"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}`), errs: []string{
			"spec.leaseDurationSeconds: Invalid value: 0: must be greater than or equal to 1",
			"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"}},
		{name: "preferred by nobody", kind: "leases", body: named(`"spec":{"preferredHolder":"a"}`),
			errs: []string{"spec.preferredHolder: Forbidden: may only be specified when `strategy` is defined"}},
		{name: "preferred by a coordinator", kind: "leases", body: named(`"spec":{"preferredHolder":"a","strategy":"OldestEmulationVersion"}`)},
	}
}
