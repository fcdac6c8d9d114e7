package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func service(parts ...string) string {
	if !strings.Contains(strings.Join(parts, ""), `"ports"`) {
		parts = append(parts, `"ports":[{"port":80}]`)
	}
	return named(`"spec":{` + members(parts...) + `}`)
}

func serviceRows() []row {
	const (
		balanced, onNodes = `"type":"LoadBalancer"`, `"type":"NodePort"`
		elsewhere         = `"type":"ExternalName","externalName":"a.b.","ports":[]`
		onlyBalanced      = ": Forbidden: may only be used when `type` is 'LoadBalancer'"
		notNamed          = ": Forbidden: may not be set when service type is 'ExternalName'"
	)
	return []row{
		{name: "defaults", kind: "services", body: service(), want: map[string]string{
			"spec": `{"internalTrafficPolicy":"Cluster","ports":[{"port":80,"protocol":"TCP","targetPort":80}],"sessionAffinity":"None","type":"ClusterIP"}`}},
		{name: "defaults of a load balancer", kind: "services", body: service(balanced), want: map[string]string{
			"spec.allocateLoadBalancerNodePorts": "true", "spec.externalTrafficPolicy": `"Cluster"`}},
		{name: "defaults with addresses outside", kind: "services", body: service(`"externalIPs":["1.2.3.4"]`), want: map[string]string{
			"spec.externalTrafficPolicy": `"Cluster"`, "spec.allocateLoadBalancerNodePorts": ""}},
		{name: "defaults of another name", kind: "services", body: service(elsewhere), want: map[string]string{
			"spec": `{"externalName":"a.b.","sessionAffinity":"None","type":"ExternalName"}`}},
		{name: "target by name stays", kind: "services", body: service(`"ports":[{"port":80,"targetPort":"http"}]`),
			want: map[string]string{"spec.ports[0].targetPort": `"http"`}},
		{name: "affinity", kind: "services", body: service(`"sessionAffinity":"ClientIP"`), want: map[string]string{
			"spec.sessionAffinityConfig": `{"clientIP":{"timeoutSeconds":10800}}`}},
		{name: "affinity with settings", kind: "services", body: service(`"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86401}}`),
			errs: []string{"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be between 1 and 86400, inclusive"}},
		{name: "settings without affinity", kind: "services", body: service(`"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}`),
			want: map[string]string{"spec.sessionAffinityConfig": ""}},
		{name: "new has no status A58", kind: "services", body: named(`"spec":{"ports":[{"port":1}]},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`),
			want: map[string]string{"status": `{"loadBalancer":{}}`}},
		{name: "address of a load balancer", kind: "services", op: schema.UpdateStatus, old: service(balanced),
			body: named(`"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"a"}]}}`),
			want: map[string]string{"status.loadBalancer.ingress": `[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"a"}]`, "spec.type": `"LoadBalancer"`}},
		{name: "status stays E17", kind: "services", op: schema.Update, old: service(balanced), body: service(balanced),
			status: named(`"status":{"loadBalancer":{"ingress":[{"hostname":"a"}]}}`), want: map[string]string{"status.loadBalancer.ingress[0].hostname": `"a"`}},

		{name: "without ports", kind: "services", body: service(`"ports":[]`), errs: []string{"spec.ports: Required value"}},
		{name: "headless without ports", kind: "services", body: service(`"clusterIP":"None","ports":[]`)},
		{name: "two ports without names", kind: "services", body: service(`"ports":[{"port":1},{"port":2,"name":"a"}]`),
			errs: []string{"spec.ports[0].name: Required value"}},
		{name: "ports alike", kind: "services", body: service(`"ports":[{"port":1,"name":"a"},{"port":1,"name":"b"},{"port":1,"name":"b","protocol":"UDP"}]`),
			errs: []string{`spec.ports[2].name: Duplicate value: "b"`, `spec.ports[1]: Duplicate value: "TCP 1"`}},
		{name: "node ports alike", kind: "services", body: service(onNodes, `"ports":[{"port":1,"name":"a","nodePort":9},{"port":2,"name":"b","nodePort":9}]`),
			errs: []string{`spec.ports[1].nodePort: Duplicate value: 9`}},
		{name: "node port without nodes", kind: "services", body: service(`"ports":[{"port":1,"nodePort":9}]`),
			errs: []string{"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"}},
		{name: "no load balancer", kind: "services", body: service(`"loadBalancerSourceRanges":["10.0.0.0/8"],"loadBalancerClass":"a/b","allocateLoadBalancerNodePorts":false`),
			errs: []string{"spec.loadBalancerSourceRanges" + onlyBalanced, "spec.loadBalancerClass" + onlyBalanced, "spec.allocateLoadBalancerNodePorts" + onlyBalanced}},
		{name: "not reached from outside", kind: "services", body: service(`"externalTrafficPolicy":"Local"`),
			errs: []string{`spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`}},
		{name: "no health check", kind: "services", body: service(balanced, `"healthCheckNodePort":9`),
			errs: []string{"spec.healthCheckNodePort: Invalid value: 9: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"}},
		{name: "health check", kind: "services", body: service(balanced, `"externalTrafficPolicy":"Local","healthCheckNodePort":9`)},
		{name: "address outside", kind: "services", body: service(`"externalIPs":["127.0.0.1"]`),
			errs: []string{`spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8)`}},
		{name: "another name that is missing", kind: "services", body: service(`"type":"ExternalName"`), errs: []string{"spec.externalName: Required value"}},
		{name: "another name that is none", kind: "services", body: service(`"type":"ExternalName","externalName":"-"`),
			errs: []string{`spec.externalName: Invalid value: "-": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{name: "another name with addresses", kind: "services", body: service(elsewhere, `"clusterIP":"1.2.3.4","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`),
			errs: []string{"spec.clusterIPs" + notNamed, "spec.ipFamilies" + notNamed, "spec.ipFamilyPolicy" + notNamed}},

		{name: "one address stands for all", kind: "services", body: service(`"clusterIP":"1.2.3.4"`), want: map[string]string{"spec.clusterIPs": `["1.2.3.4"]`}},
		{name: "two families", kind: "services", body: service(`"clusterIP":"1.2.3.4","clusterIPs":["1.2.3.4","fd00::1"]`)},
		{name: "one family twice", kind: "services", body: service(`"clusterIP":"1.2.3.4","clusterIPs":["1.2.3.4","1.2.3.5"]`),
			errs: []string{`spec.clusterIPs: Invalid value: ["1.2.3.4","1.2.3.5"]: may specify no more than one IP for each IP family`}},
		{name: "another first address", kind: "services", body: service(`"clusterIP":"1.2.3.4","clusterIPs":["fd00::1"]`),
			errs: []string{`spec.clusterIPs[0]: Invalid value: "fd00::1": first value must match ` + "`clusterIP`"}},
		{name: "addresses without the first", kind: "services", body: service(`"clusterIPs":["fd00::1"]`),
			errs: []string{`spec.clusterIPs: Invalid value: ["fd00::1"]: must be empty when ` + "`clusterIP` is not specified"}},
		{name: "no address", kind: "services", body: service(`"clusterIP":"1.2.3"`),
			errs: []string{`spec.clusterIPs[0]: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`}},
		{name: "headless on nodes", kind: "services", body: service(onNodes, `"clusterIP":"None"`),
			errs: []string{`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`}},

		{name: "address stays E21", kind: "services", op: schema.Update, old: service(`"clusterIP":"1.2.3.4"`), body: service(`"clusterIP":"1.2.3.5"`),
			errs: []string{`spec.clusterIPs: Invalid value: ["1.2.3.5"]: may not change once set`}},
		{name: "address is kept", kind: "services", op: schema.Update, old: service(`"clusterIP":"1.2.3.4"`), body: service(),
			want: map[string]string{"spec.clusterIP": `"1.2.3.4"`, "spec.clusterIPs": `["1.2.3.4"]`}},
		{name: "address comes later", kind: "services", op: schema.Update, old: service(), body: service(`"clusterIP":"1.2.3.4"`),
			want: map[string]string{"spec.clusterIPs": `["1.2.3.4"]`}},
		{name: "address goes with the type", kind: "services", op: schema.Update, old: service(`"clusterIP":"1.2.3.4"`),
			body: service(elsewhere, `"clusterIP":"1.2.3.4","clusterIPs":["1.2.3.4"]`), want: map[string]string{"spec.clusterIP": "", "spec.clusterIPs": ""}},
		{name: "node ports are kept", kind: "services", op: schema.Update, old: service(onNodes, `"ports":[{"port":1,"nodePort":9}]`),
			body: service(balanced, `"ports":[{"port":1}]`), want: map[string]string{"spec.ports[0].nodePort": "9"}},
		{name: "node ports go with the type", kind: "services", op: schema.Update, old: service(onNodes, `"ports":[{"port":1,"nodePort":9}]`),
			body: service(`"ports":[{"port":1,"nodePort":9}],"externalTrafficPolicy":"Cluster"`),
			want: map[string]string{"spec.ports[0].nodePort": "", "spec.externalTrafficPolicy": ""}},
		{name: "class stays", kind: "services", op: schema.Update, old: service(balanced, `"loadBalancerClass":"a/b"`), body: service(balanced, `"loadBalancerClass":"a/c"`),
			errs: []string{`spec.loadBalancerClass: Invalid value: "a/c": may not change once set`}},
		{name: "class goes with the type", kind: "services", op: schema.Update, old: service(balanced, `"loadBalancerClass":"a/b"`), body: service(`"loadBalancerClass":"a/b"`),
			want: map[string]string{"spec.loadBalancerClass": ""}},
		{name: "class is kept as it was", kind: "services", op: schema.Update, old: service(balanced, `"loadBalancerClass":"a/b"`), body: service(balanced, `"loadBalancerClass":"a/b"`)},
	}
}
