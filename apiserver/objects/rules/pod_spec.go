package rules

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

func podSpecHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"aliasServiceAccount": aliasServiceAccount,
		},
		Validators: map[string]schema.Validator{
			"containerNames":         containerNames,
			"initContainersRunOnce":  initContainersRunOnce,
			"hostPortsUnique":        hostPortsUnique,
			"hostNetworkPorts":       hostNetworkPorts,
			"mountsNameVolumes":      mountsNameVolumes,
			"activeDeadlinePositive": activeDeadlinePositive,
		},
	}
}

// containerLists are the fields of a pod spec that hold containers.
func containerLists() [2]string { return [2]string{"containers", "initContainers"} }

// aliasServiceAccount keeps the deprecated name of the field equal to the current one, which wins.
func aliasServiceAccount(_ *schema.Context, m *schema.Value) {
	name := m.Field("serviceAccountName")
	if name.Str() == "" {
		if alias := m.Field("serviceAccount").Str(); alias != "" {
			m.Make("serviceAccountName").SetStr(alias)
		}
		return
	}
	m.Make("serviceAccount").SetStr(name.Str())
}

// containerNames: containers and init containers share one set of names (M31).
func containerNames(c *schema.Context, v *schema.Value) {
	var names seen[string]
	for _, list := range containerLists() {
		for i, container := range v.Field(list).Items() {
			if name := container.Field("name").Str(); name != "" && !names.add(name) {
				c.Duplicate(name, list, i, "name")
			}
		}
	}
}

// initContainersRunOnce: what looks after running containers has no meaning for those that end.
func initContainersRunOnce(c *schema.Context, v *schema.Value) {
	for i, container := range v.Items() {
		for _, name := range [...]string{"lifecycle", "livenessProbe", "readinessProbe"} {
			if f := container.Field(name); f.IsSet() {
				c.Invalid(f, "must not be set for init containers", i, name)
			}
		}
	}
}

// hostPort is what one container at most may take of a node.
type hostPort struct {
	protocol, ip string
	port         int64
}

// hostPortsUnique: within a list of containers that run together, each host port is taken once.
func hostPortsUnique(c *schema.Context, v *schema.Value) {
	for _, list := range containerLists() {
		var taken seen[hostPort]
		for i, container := range v.Field(list).Items() {
			for j, port := range container.Field("ports").Items() {
				p := hostPort{port.Field("protocol").Str(), port.Field("hostIP").Str(), port.Field("hostPort").Int()}
				if p.port != 0 && !taken.add(p) {
					c.Duplicate(fmt.Sprintf("%s/%s/%d", p.protocol, p.ip, p.port), list, i, "ports", j, "hostPort")
				}
			}
		}
	}
}

// hostNetworkPorts: on the node's network a container's port is the node's port.
func hostNetworkPorts(c *schema.Context, v *schema.Value) {
	if !v.Field("hostNetwork").Bool() {
		return
	}
	for i, container := range v.Field("containers").Items() {
		for j, port := range container.Field("ports").Items() {
			if n := port.Field("containerPort").Int(); port.Field("hostPort").Int() != n {
				c.Invalid(n, "must match `hostPort` when `hostNetwork` is true", "containers", i, "ports", j, "containerPort")
			}
		}
	}
}

// mountsNameVolumes: every mount names a volume of the pod, or in a stateful set one of its claims
// (M32).
func mountsNameVolumes(c *schema.Context, v *schema.Value) {
	var volumes seen[string]
	for _, volume := range v.Field("volumes").Items() {
		volumes.add(volume.Field("name").Str())
	}
	for _, claim := range c.Enclosing("StatefulSetSpec").Field("volumeClaimTemplates").Items() {
		volumes.add(claim.Lookup("metadata", "name").Str())
	}
	for _, list := range containerLists() {
		for i, container := range v.Field(list).Items() {
			for j, mount := range container.Field("volumeMounts").Items() {
				if name := mount.Field("name").Str(); name != "" && !volumes.has(name) {
					c.NotFound(name, list, i, "volumeMounts", j, "name")
				}
			}
		}
	}
}

// activeDeadlinePositive: a deadline has at least a second, but an update of a pod may say 0: now.
func activeDeadlinePositive(c *schema.Context, v *schema.Value) {
	if v.Int() == 0 && (c.Operation == schema.Create || c.Enclosing("Pod") == nil) {
		c.Invalid(v, validation.InclusiveRangeError(1, math.MaxInt32))
	}
}
