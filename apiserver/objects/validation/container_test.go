package validation

func containerRows() []row {
	pull := func(image, policy string) row {
		return row{name: "pull " + image + " M9", kind: "pods", body: pod(`"containers":[{"name":"c","image":"` + image + `"}]`),
			want: map[string]string{"spec.containers[0].imagePullPolicy": `"` + policy + `"`}}
	}
	const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	template := func(container string) string {
		return workload(`"selector":{"matchLabels":{"a":"b"}}`, `"metadata":{"labels":{"a":"b"}},"spec":{"containers":[`+container+`],"volumes":[{"name":"v"}]}`)
	}
	return []row{
		pull("i", "Always"), pull("i:latest", "Always"), pull("i:1", "IfNotPresent"), pull("h:5000/i", "Always"),
		pull("h:5000/i:1", "IfNotPresent"), pull("i"+digest, "IfNotPresent"), pull("i:latest"+digest, "Always"),
		{name: "image with space", kind: "pods", body: pod(`"containers":[{"name":"c","image":" i"}]`),
			errs: []string{`spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace`}},
		{name: "image with space in a template", kind: "daemonsets", body: template(`{"name":"c","image":" "}`)},
		{name: "port names M31", kind: "pods", body: container(`"ports":[{"containerPort":1,"name":"p"},{"containerPort":2,"name":"p"},{"containerPort":3},{"containerPort":4}]`),
			errs: []string{`spec.containers[0].ports[1].name: Duplicate value: "p"`}},
		{name: "mount paths M32", kind: "pods",
			body: pod(`"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/b"},{"name":"v","mountPath":"/a"}]}]`),
			errs: []string{`spec.containers[0].volumeMounts[2].mountPath: Invalid value: "/a": must be unique`}},
		{name: "mounts both ways in privileged containers", kind: "daemonsets",
			body: template(`{"name":"c","image":"i","securityContext":{"privileged":true},"volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}]}`)},
		{name: "mounts both ways in others", kind: "daemonsets",
			body: template(`{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"},{"name":"v","mountPath":"/b","mountPropagation":"HostToContainer"}]}`),
			errs: []string{"spec.template.spec.containers[0].volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers"}},
		{name: "privileges given and taken", kind: "daemonsets",
			body: template(`{"name":"c","image":"i","securityContext":{"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}}`),
			errs: []string{
				`spec.template.spec.containers[0].securityContext: Invalid value: {"capabilities":{"add":["CAP_SYS_ADMIN"]},"privileged":true,"allowPrivilegeEscalation":false}: cannot set ` + "`allowPrivilegeEscalation` to false and `privileged` to true",
				`spec.template.spec.containers[0].securityContext: Invalid value: {"capabilities":{"add":["CAP_SYS_ADMIN"]},"privileged":true,"allowPrivilegeEscalation":false}: cannot set ` + "`allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
			}},
		{name: "privileges taken", kind: "daemonsets",
			body: template(`{"name":"c","image":"i","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["CHOWN"]}}}`)},
		{name: "requests above limits M25", kind: "pods",
			body: container(`"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1500m","memory":"1024Mi"}}`),
			errs: []string{`spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit`}},
		{name: "requests of claims M25", kind: "statefulsets",
			body: workload(`"selector":{"matchLabels":{"a":"b"}},"volumeClaimTemplates":[{"metadata":{"name":"w"},"spec":{"resources":{"limits":{"storage":"1"},"requests":{"storage":"2"}}}}]`,
				`"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}`)},
	}
}
