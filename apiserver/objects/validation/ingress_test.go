package validation

const toWeb = `"backend":{"service":{"name":"web","port":{"number":80}}}`

func ingressAt(host, path, kind, backend string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"spec":{"rules":[{"host":"` + host + `","http":{"paths":[{"path":"` + path + `","pathType":"` + kind + `",` + backend + `}]}}]}}`
}

func ingressTo(backend string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"spec":{"defaultBackend":{` + backend + `}}}`
}

func policy(spec string) string {
	return `{"metadata":{"name":"x","namespace":"n"},"spec":{"podSelector":{}` + spec + `}}`
}

func ingressRows() []row {
	const path = "spec.rules[0].http.paths[0].path"
	return []row{
		{name: "host and path", kind: "ingresses", body: ingressAt("shop.example.com", "/", "Prefix", toWeb)},
		{name: "any host", kind: "ingresses", body: ingressAt("*.example.com", "", "ImplementationSpecific", toWeb)},
		{name: "nothing", kind: "ingresses", body: `{"metadata":{"name":"x","namespace":"n"},"spec":{}}`,
			errs: []string{"spec: Invalid value: {}: either `defaultBackend` or `rules` must be specified"}},
		{name: "address", kind: "ingresses", body: ingressAt("10.1.2.3", "/", "Exact", toWeb),
			errs: []string{`spec.rules[0].host: Invalid value: "10.1.2.3": must be a DNS name, not an IP address`}},
		{name: "wildcard inside", kind: "ingresses", body: ingressAt("a.*.example.com", "/", "Exact", toWeb),
			errs: []string{`spec.rules[0].host: Invalid value: "a.*.example.com": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{name: "certificate of an address", kind: "ingresses",
			body: `{"metadata":{"name":"x","namespace":"n"},"spec":{"tls":[{"hosts":["a.example.com","::1"]}],"defaultBackend":{"service":{"name":"web","port":{"name":"http"}}}}}`,
			errs: []string{`spec.tls[0].hosts[1]: Invalid value: "::1": must be a DNS name, not an IP address`}},
		{name: "relative path", kind: "ingresses", body: ingressAt("", "a", "Exact", toWeb), errs: []string{path + `: Invalid value: "a": must be an absolute path`}},
		{name: "relative path of others", kind: "ingresses", body: ingressAt("", "a", "ImplementationSpecific", toWeb), errs: []string{path + `: Invalid value: "a": must be an absolute path`}},
		{name: "steps back", kind: "ingresses", body: ingressAt("", "/a/../b", "Prefix", toWeb), errs: []string{path + `: Invalid value: "/a/../b": must not contain '/../'`}},
		{name: "ends with a step back", kind: "ingresses", body: ingressAt("", "/a/..", "Exact", toWeb), errs: []string{path + `: Invalid value: "/a/..": cannot end with '/..'`}},
		{name: "two backends", kind: "ingresses", body: ingressTo(`"service":{"name":"web","port":{"number":80}},"resource":{"kind":"K","name":"n"}`),
			errs: []string{`spec.defaultBackend: Invalid value: {"service":{"name":"web","port":{"number":80}},"resource":{"kind":"K","name":"n"}}: cannot set both resource and service backends`}},
		{name: "no backend", kind: "ingresses", body: ingressTo(""), errs: []string{"spec.defaultBackend: Required value: resource or service backend is required"}},
		{name: "two ports", kind: "ingresses", body: ingressTo(`"service":{"name":"web","port":{"name":"http","number":80}}`),
			errs: []string{`spec.defaultBackend.service.port: Invalid value: {"name":"http","number":80}: cannot set both port name & port number`}},
		{name: "no port", kind: "ingresses", body: ingressTo(`"service":{"name":"web","port":{}}`),
			errs: []string{"spec.defaultBackend.service.port: Required value: port name or number is required"}},
		{name: "port below all", kind: "ingresses", body: ingressTo(`"service":{"name":"web","port":{"number":-1}}`),
			errs: []string{"spec.defaultBackend.service.port.number: Invalid value: -1: must be between 1 and 65535, inclusive"}},
		{name: "policy of what comes in", kind: "networkpolicies", body: policy(""), want: map[string]string{"spec.policyTypes": `["Ingress"]`}},
		{name: "policy of both", kind: "networkpolicies", body: policy(`,"egress":[{"ports":[{"port":53}]}]`),
			want: map[string]string{"spec.policyTypes": `["Ingress","Egress"]`, "spec.egress[0].ports[0].protocol": `"TCP"`}},
		{name: "policy of its own", kind: "networkpolicies", body: policy(`,"policyTypes":["Egress"]`), want: map[string]string{"spec.policyTypes": `["Egress"]`}},
		{name: "range of ports", kind: "networkpolicies", body: policy(`,"ingress":[{"ports":[{"port":80,"endPort":90}]}]`)},
		{name: "range from nowhere", kind: "networkpolicies", body: policy(`,"ingress":[{"ports":[{"endPort":90}]}]`),
			errs: []string{"spec.ingress[0].ports[0].port: Required value: must be specified when `endPort` is specified"}},
		{name: "range from a name", kind: "networkpolicies", body: policy(`,"ingress":[{"ports":[{"port":"http","endPort":90}]}]`),
			errs: []string{"spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric"}},
		{name: "range backwards", kind: "networkpolicies", body: policy(`,"ingress":[{"ports":[{"port":80,"endPort":70}]}]`),
			errs: []string{"spec.ingress[0].ports[0].endPort: Invalid value: 70: must be greater than or equal to `port`"}},
		{name: "nobody", kind: "networkpolicies", body: policy(`,"ingress":[{"from":[{}]}]`), errs: []string{"spec.ingress[0].from[0]: Required value: must specify a peer"}},
		{name: "pods and addresses", kind: "networkpolicies", body: policy(`,"egress":[{"to":[{"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}}]}]`),
			errs: []string{"spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"}},
	}
}
