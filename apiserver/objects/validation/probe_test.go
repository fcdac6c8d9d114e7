package validation

func probeRows() []row {
	probe := func(v string) string { return container(`"livenessProbe":{` + v + `}`) }
	return []row{
		{name: "one handler", kind: "pods", body: probe(`"tcpSocket":{"port":80}`)},
		{name: "no handler", kind: "pods", body: probe(`"initialDelaySeconds":1`),
			errs: []string{"spec.containers[0].livenessProbe: Required value: must specify a handler type"}},
		{name: "two handlers", kind: "pods", body: probe(`"tcpSocket":{"port":80},"exec":{"command":["a"]}`),
			errs: []string{"spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"}},
		{name: "liveness needs one success", kind: "pods", body: probe(`"tcpSocket":{"port":80},"successThreshold":2`),
			errs: []string{"spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"}},
		{name: "readiness may need more", kind: "pods", body: container(`"readinessProbe":{"tcpSocket":{"port":80},"successThreshold":2}`)},
		{name: "hook without a handler", kind: "pods", body: container(`"lifecycle":{"preStop":{}}`),
			errs: []string{"spec.containers[0].lifecycle.preStop: Required value: must specify a handler type"}},
	}
}
