package validation

import "quorate/apiserver/objects/schema"

func oauthClientRows() []row {
	body := func(parts string) string { return `{"metadata":{"name":"x"},` + parts + `}` }
	restriction := func(r string) string { return body(`"scopeRestrictions":[{` + r + `}]`) }
	return []row{
		{name: "redirects J56", kind: "oauthclients", body: body(`"redirectURIs":["https://a/b","http://127.0.0.1:9/"]`)},
		{name: "redirects to one place twice J56", kind: "oauthclients", body: body(`"redirectURIs":["https://a","https://a"]`),
			errs: []string{`redirectURIs[1]: Duplicate value: "https://a"`}},
		{name: "redirects to nowhere J56", kind: "oauthclients", body: body(`"redirectURIs":["/a"]`),
			errs: []string{`redirectURIs[0]: Invalid value: "/a": must be an absolute URI`}},
		{name: "redirects to a part of a page J56", kind: "oauthclients", body: body(`"redirectURIs":["https://a#b"]`),
			errs: []string{`redirectURIs[0]: Invalid value: "https://a#b": may not contain a fragment`}},
		{name: "grants J50", kind: "oauthclients", body: body(`"grantMethod":"prompt"`)},
		{name: "grants as the server does J50", kind: "oauthclients", body: body(`"grantMethod":""`)},
		{name: "grants otherwise J50", kind: "oauthclients", body: body(`"grantMethod":"ask"`),
			errs: []string{`grantMethod: Unsupported value: "ask": supported values: "auto", "prompt"`}},
		{name: "grants otherwise later J50", kind: "oauthclients", op: schema.Update, old: body(`"grantMethod":"auto"`), body: body(`"grantMethod":"ask"`),
			errs: []string{`grantMethod: Unsupported value: "ask": supported values: "auto", "prompt"`}},
		{name: "restricted to scopes J56", kind: "oauthclients", body: restriction(`"literals":["user:info"]`)},
		{name: "restricted to roles J56", kind: "oauthclients", body: restriction(`"clusterRole":{"roleNames":["*"],"namespaces":["*"]}`)},
		{name: "restricted to nothing J56", kind: "oauthclients", body: restriction(""),
			errs: []string{"scopeRestrictions[0]: Invalid value: {}: exactly one of literals, clusterRole is required"}},
		{name: "restricted twice J56", kind: "oauthclients", body: restriction(`"literals":["a"],"clusterRole":{"roleNames":["*"],"namespaces":["*"]}`),
			errs: []string{`scopeRestrictions[0]: Invalid value: {"literals":["a"],"clusterRole":{"roleNames":["*"],"namespaces":["*"],"allowEscalation":false}}: exactly one of literals, clusterRole is required`}},
		{name: "restricted to empty scopes J56", kind: "oauthclients", body: restriction(`"literals":["a",""]`),
			errs: []string{`scopeRestrictions[0].literals[1]: Invalid value: "": may not be empty`}},
	}
}
