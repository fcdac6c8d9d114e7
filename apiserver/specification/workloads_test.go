package specification

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// workloadRows: pods and the kinds that are about them.
var workloadRows = []row{
	{"M6", func(t *testing.T, s *testserver.Server) {
		pod := made(t, s, "Pod", namespace(t, s), `{"status":{"phase":"Running","hostIP":"192.0.2.1"}}`)
		want(t, pod, "status", `{"phase":"Pending","qosClass":"BestEffort"}`, "spec.nodeName", "")
	}},
	{"M7", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		with := func(resources ...string) string {
			var containers []string
			for i, r := range resources {
				containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"i:1","resources":%s}`, i, r))
			}
			return `{"spec":{"containers":[` + strings.Join(containers, ",") + `]}}`
		}
		const full = `{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1Gi"}}`
		const limits = `{"limits":{"cpu":"1","memory":"1Gi"}}`
		for class, pods := range map[string][]string{
			"Guaranteed": {with(full), with(limits), with(full, limits)},
			"BestEffort": {with(`{}`), with(`{}`, `{}`)},
			"Burstable": {with(full, `{}`), with(`{"limits":{"cpu":"1"}}`), with(`{"requests":{"memory":"1Gi"}}`),
				with(`{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1"}}`)},
		} {
			for _, pod := range pods {
				want(t, made(t, s, "Pod", ns, pod), "status.qosClass", class)
			}
		}
		want(t, made(t, s, "Pod", ns, with(limits)), "spec.containers.0.resources.requests.cpu", "1")
	}},
	{"M8", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		pod := create(t, s, "Pod", ns, "m8")
		for _, phase := range []string{"Running", "Succeeded", "Failed", "Unknown", "Pending"} {
			pod = ok(t, s.Do("PUT", item("Pod", ns, "m8")+"/status", with(pod, `{"status":{"phase":"`+phase+`"}}`)))
			want(t, pod, "status.phase", phase)
		}
	}},
	{"M9", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		pod := made(t, s, "Pod", ns, `{"spec":{"serviceAccountName":"sa","containers":[{"name":"c","image":"r.example/i","ports":[{"containerPort":80}],
			"livenessProbe":{"tcpSocket":{"port":80}}}]}}`)
		want(t, pod, "spec.restartPolicy", "Always", "spec.dnsPolicy", "ClusterFirst", "spec.terminationGracePeriodSeconds", "30",
			"spec.schedulerName", "default-scheduler", "spec.securityContext", "{}", "spec.serviceAccount", "sa",
			"spec.containers.0.imagePullPolicy", "Always", "spec.containers.0.terminationMessagePath", "/dev/termination-log",
			"spec.containers.0.terminationMessagePolicy", "File", "spec.containers.0.ports.0.protocol", "TCP",
			"spec.containers.0.livenessProbe.timeoutSeconds", "1", "spec.containers.0.livenessProbe.periodSeconds", "10",
			"spec.containers.0.livenessProbe.successThreshold", "1", "spec.containers.0.livenessProbe.failureThreshold", "3")
		for image, policy := range map[string]string{"i:latest": "Always", "i:1": "IfNotPresent", "r.example:5000/i": "Always", "i@sha256:" + strings.Repeat("0", 64): "IfNotPresent"} {
			want(t, made(t, s, "Pod", ns, `{"spec":{"containers":[{"name":"c","image":"`+image+`"}]}}`), "spec.containers.0.imagePullPolicy", policy)
		}
		want(t, made(t, s, "Pod", ns, `{"spec":{"serviceAccount":"old"}}`), "spec.serviceAccountName", "old")
	}},
	{"M14", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		body := minimal("Endpoints", ns, "m14", `{"subsets":[
			{"addresses":[{"ip":"10.0.0.2"},{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}],"ports":[{"name":"b","port":81},{"name":"a","port":80}]},
			{"addresses":[{"ip":"10.0.0.3"}],"notReadyAddresses":[{"ip":"10.0.0.1"},{"ip":"10.0.0.4"}],"ports":[{"name":"a","port":80},{"name":"b","port":81}]}]}`)
		const ports = `[{"name":"a","port":80,"protocol":"TCP"},{"name":"b","port":81,"protocol":"TCP"}]`
		packed := `[{"addresses":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"},{"ip":"10.0.0.3"}],"notReadyAddresses":[{"ip":"10.0.0.4"}],"ports":` + ports + `}]`
		want(t, ok(t, s.Do("POST", collection("Endpoints", ns), body)), "subsets", packed)
		create(t, s, "Endpoints", ns, "m14b")
		want(t, ok(t, s.Do("PUT", item("Endpoints", ns, "m14b"), with(body, `{"metadata":{"name":"m14b"}}`))), "subsets", packed)
		for _, none := range []string{"[]", "null"} {
			// The kind file shows the list always; it is absent in that it holds nothing.
			if v := value(t, made(t, s, "Endpoints", ns, `{"subsets":`+none+`}`), "subsets"); v != nil {
				t.Errorf("subsets %v", v)
			}
		}
	}},
	{"M15", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		subset := func(addresses, ports string) string {
			return `{"subsets":[{"addresses":[` + addresses + `],"ports":[` + ports + `]}]}`
		}
		const ip, port = `{"ip":"10.0.0.1"}`, `{"port":80}`
		for _, bad := range []string{"x", "127.0.0.1", "169.254.1.1", "0.0.0.0", "::1", "224.0.0.1"} {
			refuse(t, s, "Endpoints", ns, "subsets[0].addresses[0].ip", "FieldValueInvalid", subset(`{"ip":"`+bad+`"}`, port))
		}
		for _, bad := range []string{"0", "65536", "-1"} {
			expect(t, s.Do("POST", collection("Endpoints", ns), minimal("Endpoints", ns, "m15", subset(ip, `{"port":`+bad+`}`))), 422, "Invalid", "subsets[0].ports[0].port")
		}
		refuse(t, s, "Endpoints", ns, "subsets[0].ports[1].name", "FieldValueRequired", subset(ip, `{"name":"a","port":80},{"port":81}`))
		refuse(t, s, "Endpoints", ns, "subsets[0].ports[0].name", "FieldValueInvalid", subset(ip, `{"name":"A b","port":80}`))
		refuse(t, s, "Endpoints", ns, "subsets[0].ports[1].name", "FieldValueDuplicate", subset(ip, `{"name":"a","port":80},{"name":"a","port":81}`))
		refuse(t, s, "Endpoints", ns, "subsets[0]", "FieldValueRequired", `{"subsets":[{"ports":[{"port":80}]}]}`)
		made(t, s, "Endpoints", ns, `{"subsets":[{"notReadyAddresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`)
	}},
	{"M20", func(t *testing.T, s *testserver.Server) {
		const kind = "HorizontalPodAutoscaler"
		ns := namespace(t, s)
		want(t, made(t, s, kind, ns, ""), "spec.minReplicas", "1",
			"spec.metrics", `[{"resource":{"name":"cpu","targetAverageUtilization":80},"type":"Resource"}]`)
		expect(t, s.Do("POST", collection(kind, ns), minimal(kind, ns, "m20", `{"spec":{"maxReplicas":0}}`)), 422, "Invalid", "spec.maxReplicas")
		refuse(t, s, kind, ns, "spec.maxReplicas", "FieldValueInvalid", `{"spec":{"minReplicas":4}}`)
		refuse(t, s, kind, ns, "spec.metrics[0].type", "FieldValueNotSupported", `{"spec":{"metrics":[{"type":"Odd"}]}}`)
		for _, metric := range []string{
			`{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}}`, `{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":50}}`,
			`{"type":"Object","object":{"metricName":"m","targetValue":"1","target":{"kind":"Pod","name":"p"}}}`,
		} {
			made(t, s, kind, ns, `{"spec":{"metrics":[`+metric+`]}}`)
			for _, other := range []string{"Pods", "Resource", "Object"} {
				wrong := with(metric, `{"type":"`+other+`"}`)
				if get(t, metric, "type") != other {
					expect(t, s.Do("POST", collection(kind, ns), minimal(kind, ns, "m20", `{"spec":{"metrics":[`+wrong+`]}}`)), 422, "Invalid", "spec.metrics[0]")
				}
			}
		}
		expect(t, s.Do("POST", collection(kind, ns), minimal(kind, ns, "m20", `{"spec":{"metrics":[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"},
			"resource":{"name":"cpu","targetAverageUtilization":50}}]}}`)), 422, "Invalid", "spec.metrics[0]")
	}},
	{"M21", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		set := made(t, s, "DaemonSet", ns, "")
		want(t, set, "spec.updateStrategy", `{"rollingUpdate":{"maxUnavailable":1},"type":"RollingUpdate"}`, "spec.revisionHistoryLimit", "10")
		refuse(t, s, "DaemonSet", ns, "spec.template.metadata.labels", "FieldValueInvalid", `{"spec":{"selector":{"matchLabels":{"app":"b"}}}}`)
		refuse(t, s, "DaemonSet", ns, "spec.selector", "FieldValueRequired", `{"spec":{"selector":null}}`)
		for _, policy := range []string{"Never", "OnFailure"} {
			refuse(t, s, "DaemonSet", ns, "spec.template.spec.restartPolicy", "FieldValueNotSupported", `{"spec":{"template":{"spec":{"restartPolicy":"`+policy+`"}}}}`)
		}
	}},
	{"M22", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		want(t, made(t, s, "StatefulSet", ns, `{"spec":{"serviceName":""}}`), "spec.replicas", "1", "spec.podManagementPolicy", "OrderedReady",
			"spec.updateStrategy", `{"rollingUpdate":{"partition":0},"type":"RollingUpdate"}`, "spec.revisionHistoryLimit", "10")
		// Required, and may be empty: it is always there.
		if v := value(t, made(t, s, "StatefulSet", ns, `{"spec":{"serviceName":null}}`), "spec.serviceName"); v != "" {
			t.Errorf("serviceName %v", v)
		}
	}},
	{"M23", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		job := made(t, s, "CronJob", ns, "")
		want(t, job, "spec.concurrencyPolicy", "Allow", "spec.suspend", "false", "spec.successfulJobsHistoryLimit", "3", "spec.failedJobsHistoryLimit", "1")
		for _, good := range []string{"*/5 * * * *", "0 0 1 JAN MON", "@hourly", "@every 1h", "1-5,7 * * * 0"} {
			made(t, s, "CronJob", ns, `{"spec":{"schedule":"`+good+`"}}`)
		}
		for _, bad := range []string{"* * * *", "60 * * * *", "sometimes", "@sometimes", "* * * * * *"} {
			refuse(t, s, "CronJob", ns, "spec.schedule", "FieldValueInvalid", `{"spec":{"schedule":"`+bad+`"}}`)
		}
		refuse(t, s, "CronJob", ns, "spec.schedule", "FieldValueRequired", `{"spec":{"schedule":""}}`)
		for _, policy := range []string{"Allow", "Forbid", "Replace"} {
			made(t, s, "CronJob", ns, `{"spec":{"concurrencyPolicy":"`+policy+`"}}`)
		}
		refuse(t, s, "CronJob", ns, "spec.concurrencyPolicy", "FieldValueNotSupported", `{"spec":{"concurrencyPolicy":"Odd"}}`)
		restart := func(policy string) string {
			return `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":` + policy + `}}}}}}`
		}
		made(t, s, "CronJob", ns, restart(`"OnFailure"`))
		for _, policy := range []string{`"Always"`, `null`} {
			expect(t, s.Do("POST", collection("CronJob", ns), minimal("CronJob", ns, "m23", restart(policy))), 422, "Invalid", "spec.jobTemplate.spec.template.spec.restartPolicy")
		}
	}},
	{"M24", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		const claims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"}},{"metadata":{"name":"e"},"status":{"phase":"Bound"}},{"metadata":{"name":"f"},"status":{"phase":"Lost"}}]}}`
		set := made(t, s, "StatefulSet", ns, claims)
		for i, phase := range []string{"Pending", "Bound", "Lost"} {
			want(t, set, fmt.Sprintf("spec.volumeClaimTemplates.%d.status.phase", i), phase)
		}
	}},
	{"M25", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		resources := func(r string) string {
			return `{"spec":{"containers":[{"name":"c","image":"i:1","resources":` + r + `}]}}`
		}
		pod := made(t, s, "Pod", ns, resources(`{"requests":{"cpu":"1000m","memory":"1024Mi","example.com/n":"0.5e1"}}`))
		want(t, pod, "spec.containers.0.resources.requests", `{"cpu":"1","example.com/n":"5","memory":"1Gi"}`)
		refuse(t, s, "Pod", ns, "spec.containers[0].resources.requests", "FieldValueInvalid", resources(`{"limits":{"cpu":"1"},"requests":{"cpu":"1001m"}}`))
		made(t, s, "Pod", ns, resources(`{"limits":{"cpu":"1"},"requests":{"cpu":"1000m"}}`))
	}},
	{"M31", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		container := func(c string) string {
			return `{"spec":{"containers":[` + with(`{"name":"c","image":"i:1"}`, c) + `]}}`
		}
		for _, bad := range []string{"A", "a.b", "-a", strings.Repeat("c", 64)} {
			refuse(t, s, "Pod", ns, "spec.containers[0].name", "FieldValueInvalid", container(`{"name":"`+bad+`"}`))
		}
		refuse(t, s, "Pod", ns, "spec.containers[1].name", "FieldValueDuplicate", `{"spec":{"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}}`)
		refuse(t, s, "Pod", ns, "spec.initContainers[0].name", "FieldValueDuplicate", `{"spec":{"initContainers":[{"name":"c","image":"i"}]}}`)
		// The kind file allows what 1.8 does: a C identifier, or one with dots and dashes.
		for _, bad := range []string{"1a", "a b", "a/b", "a=b"} {
			refuse(t, s, "Pod", ns, "spec.containers[0].env[0].name", "FieldValueInvalid", container(`{"env":[{"name":"`+bad+`"}]}`))
		}
		made(t, s, "Pod", ns, container(`{"env":[{"name":"_A_b1"}],"ports":[{"containerPort":1},{"containerPort":65535}]}`))
		for _, bad := range []string{"65536", "-1"} {
			refuse(t, s, "Pod", ns, "spec.containers[0].ports[0].containerPort", "FieldValueInvalid", container(`{"ports":[{"containerPort":`+bad+`}]}`))
		}
	}},
	{"M32", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		refuse(t, s, "Pod", ns, "spec.volumes[1].name", "FieldValueDuplicate", `{"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"v","emptyDir":{}}]}}`)
		expect(t, s.Do("POST", collection("Pod", ns), minimal("Pod", ns, "m32", `{"spec":{"volumes":[{"name":"v","emptyDir":{},"gitRepo":{"repository":"r"}}]}}`)),
			422, "Invalid", "spec.volumes[0]")
		want(t, made(t, s, "Pod", ns, `{"spec":{"volumes":[{"name":"v"}]}}`), "spec.volumes.0.emptyDir", "{}")
		refuse(t, s, "Pod", ns, "spec.containers[0].volumeMounts[0].name", "FieldValueNotFound",
			`{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"none","mountPath":"/m"}]}]}}`)
	}},
	{"M33", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		const spec = `{"priority":7,"volumes":[{"name":"f","fc":{"wwids":["w"],"fsType":"ext4"}},{"name":"h","hostPath":{"path":"/p","type":"Directory"}}],
			"containers":[{"name":"c","image":"i:1","securityContext":{"allowPrivilegeEscalation":false},"volumeMounts":[{"name":"h","mountPath":"/m","mountPropagation":"HostToContainer"}]}]}`
		fields := []string{"priority", "volumes.0.fc.wwids", "volumes.1.hostPath.type", "containers.0.securityContext.allowPrivilegeEscalation", "containers.0.volumeMounts.0.mountPropagation"}
		pod := minimal("Pod", ns, "m33", `{"spec":`+spec+`}`)
		a := s.Do("POST", collection("Pod", ns)+"?fieldValidation=Strict", pod)
		for _, field := range []string{"spec.priority", "wwids", "spec.volumes[1].hostPath.type", "allowPrivilegeEscalation", "mountPropagation"} {
			expect(t, a, 400, "BadRequest", "unknown field", field)
		}
		set := made(t, s, "DaemonSet", ns, `{"spec":{"template":{"spec":`+spec+`}}}`)
		made := ok(t, s.Do("POST", collection("Pod", ns), with(pod, `{"spec":{"volumes":[{"name":"h","hostPath":{"path":"/p","type":"Directory"}},{"name":"f","emptyDir":{}}]}}`)))
		for _, field := range fields {
			if v := value(t, made, "spec."+field); v != nil {
				t.Errorf("a pod has %s: %v", field, v)
			}
			if v := value(t, set, "spec.template.spec."+field); v == nil {
				t.Errorf("a template has no %s: %s", field, set)
			}
		}
		if v := value(t, made, "spec.volumes.0.hostPath.type"); v != nil {
			t.Errorf("a pod has hostPath.type %v", v)
		}
	}},
}
