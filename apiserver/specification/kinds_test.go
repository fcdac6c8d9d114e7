package specification

import (
	"encoding/json"
	"fmt"
	"strings"
)

// kindOf is one row of the catalog (§4.1).
type kindOf struct {
	kind       string // the two forms of ClusterRoleBinding are told apart as "ClusterRoleBinding" and "LegacyBinding"
	prefix     string
	plural     string
	namespaced bool
	// members are what a valid object needs beside its metadata; $ns stands for its namespace and
	// $name for its name.
	members string
}

// catalog is §4.1, with a minimal valid object of each kind.
func catalog() []kindOf {
	const (
		rbac  = "/apis/rbac.authorization.platform.io/"
		pod   = `{"containers":[{"name":"c","image":"registry.example/app:1"}]}`
		tmpl  = `{"metadata":{"labels":{"app":"a"}},"spec":` + pod + `}`
		picks = `"selector":{"matchLabels":{"app":"a"}},"template":` + tmpl
		once  = `{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}}}}`
		user  = `{"kind":"User","name":"u"}`
	)
	return []kindOf{
		{"Endpoints", "/api/v1", "endpoints", true, `"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]`},
		{"Namespace", "/api/v1", "namespaces", false, ``},
		{"ConfigMap", "/api/v1", "configmaps", true, `"data":{"k":"v"}`},
		{"Event", "/api/v1", "events", true, `"involvedObject":{"kind":"Pod","namespace":"$ns","name":"p"},"reason":"Tested"`},
		{"PersistentVolume", "/api/v1", "persistentvolumes", false,
			`"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/d"}}`},
		{"Node", "/api/v1", "nodes", false, ``},
		{"Pod", "/api/v1", "pods", true, `"spec":` + pod},
		{"ClusterNetwork", "/apis/network.platform.io/v1", "clusternetworks", false,
			`"network":"10.128.0.0/14","serviceNetwork":"172.30.0.0/16","hostsubnetlength":9,"pluginName":"p"`},
		{"Image", "/apis/image.platform.io/v1", "images", false, `"containerImageReference":"registry.example/app:1"`},
		{"ThirdPartyResource", "/apis/extensions/v1beta1", "thirdpartyresources", false, `"versions":[{"name":"v1"}]`},
		{"ClusterRole", rbac + "v1beta1", "clusterroles", false, `"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`},
		{"Role", rbac + "v1", "roles", true, `"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`},
		{"RoleBinding", rbac + "v1", "rolebindings", true, `"roleRef":{"kind":"Role","name":"r"},"subjects":[` + user + `]`},
		{"ClusterRoleBinding", rbac + "v1", "clusterrolebindings", false,
			`"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[` + user + `]`},
		{"LegacyBinding", "/oapi/v1", "clusterrolebindings", false, `"roleRef":{"name":"r"},"subjects":[` + user + `]`},
		{"OAuthClient", "/apis/oauth.platform.io/v1", "oauthclients", false,
			`"secret":"s","redirectURIs":["https://c.example/cb"],"grantMethod":"auto"`},
		{"HostSubnet", "/oapi/v1", "hostsubnets", false, `"host":"$name","hostIP":"192.0.2.1","subnet":"10.128.0.0/23"`},
		{"HorizontalPodAutoscaler", "/apis/autoscaling/v2beta1", "horizontalpodautoscalers", true,
			`"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"StatefulSet","name":"w"}}`},
		{"DaemonSet", "/apis/apps/v1beta2", "daemonsets", true, `"spec":{` + picks + `}`},
		{"CronJob", "/apis/batch/v1beta1", "cronjobs", true, `"spec":{"schedule":"0 * * * *","jobTemplate":` + once + `}`},
		{"StatefulSet", "/apis/apps/v1beta2", "statefulsets", true, `"spec":{"serviceName":"w",` + picks + `}`},
		{"Lease", "/apis/coordination.k8s.io/v1", "leases", true, `"spec":{"holderIdentity":"h","renewTime":"2018-01-02T03:04:05.000006Z"}`},
		{"Secret", "/api/v1", "secrets", true, `"data":{"k":"dg=="}`},
		{"Service", "/api/v1", "services", true, `"spec":{"ports":[{"port":80}]}`},
		{"ServiceAccount", "/api/v1", "serviceaccounts", true, `"automountServiceAccountToken":false`},
	}
}

// kindNamed finds a kind of the catalog.
func kindNamed(name string) kindOf {
	for _, k := range catalog() {
		if k.kind == name {
			return k
		}
	}
	panic("no kind " + name)
}

// realKind is what objects of the kind carry.
func (k kindOf) realKind() string {
	if k.kind == "LegacyBinding" {
		return "ClusterRoleBinding"
	}
	return k.kind
}

// group is the API group, "" for the core and legacy prefixes.
func (k kindOf) group() string {
	if parts := strings.Split(k.prefix, "/"); parts[1] == "apis" {
		return parts[2]
	}
	return ""
}

// apiVersion is what objects of the kind carry (§9.2).
func (k kindOf) apiVersion() string {
	if k.group() == "" {
		return "v1"
	}
	return strings.TrimPrefix(k.prefix, "/apis/")
}

// collection is the path of a kind's collection; ns is ignored by cluster-scoped kinds, and "" is
// all namespaces.
func collection(kind, ns string) string { return kindNamed(kind).path("", ns) }

// item is the path of an object.
func item(kind, ns, name string) string { return collection(kind, ns) + "/" + name }

// watchPath is the collection's path under the watch prefix.
func watchPath(kind, ns string) string { return kindNamed(kind).path("/watch", ns) }

func (k kindOf) path(infix, ns string) string {
	if k.namespaced && ns != "" {
		return k.prefix + infix + "/namespaces/" + ns + "/" + k.plural
	}
	return k.prefix + infix + "/" + k.plural
}

// minimal is a valid object of a kind, in JSON, with its namespace where it has one. Changes are
// JSON merge patches.
func minimal(kind, ns, name string, changes ...string) string {
	k := kindNamed(kind)
	text := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"name":%q}`, k.realKind(), k.apiVersion(), name)
	if k.members != "" {
		text += "," + strings.NewReplacer("$ns", ns, "$name", name).Replace(k.members)
	}
	object := object(text + "}")
	if k.namespaced && ns != "" {
		object["metadata"].(map[string]any)["namespace"] = ns
	}
	for _, change := range changes {
		object = merge(object, json.RawMessage(change)).(map[string]any)
	}
	out, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// with changes an object by JSON merge patches.
func with(body string, changes ...string) string {
	var o any = object(body)
	for _, change := range changes {
		o = merge(o, json.RawMessage(change))
	}
	out, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// object decodes a row's own text, which is at fault if it is no object.
func object(text string) map[string]any {
	o, isObject := decoded(json.RawMessage(text)).(map[string]any)
	if !isObject {
		panic("no object: " + text)
	}
	return o
}

func decoded(text json.RawMessage) any {
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%v: %s", err, text))
	}
	return v
}

// merge applies an RFC 7386 patch.
func merge(into any, patch any) any {
	if text, raw := patch.(json.RawMessage); raw {
		patch = decoded(text)
	}
	change, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	result, isObject := into.(map[string]any)
	if !isObject {
		result = map[string]any{}
	}
	for name, v := range change {
		if v == nil {
			delete(result, name)
		} else {
			result[name] = merge(result[name], v)
		}
	}
	return result
}
