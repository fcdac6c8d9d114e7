package typed_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"quorate/chaos/clients/internal/cluster"
)

// applies has typed clients of three nodes apply fields of one object, remove them by applying
// without them, and get the conflict that names the other manager.
func applies(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	sets := clientsets(t, c)
	maps := func(node int) applierOfConfigMaps { return sets[node].CoreV1().ConfigMaps(namespace) }
	config := func(data map[string]string) *coreapply.ConfigMapApplyConfiguration {
		return coreapply.ConfigMap("applied", namespace).WithData(data)
	}
	if _, err := maps(0).Apply(ctx, config(map[string]string{"a": "1", "b": "1"}), metav1.ApplyOptions{FieldManager: "m"}); err != nil {
		t.Fatal(err)
	}
	_, err := maps(1).Apply(ctx, config(map[string]string{"a": "2"}), metav1.ApplyOptions{FieldManager: "n"})
	if !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Errorf("a field of another manager: %v", err)
	}
	got, err := maps(1).Apply(ctx, config(map[string]string{"a": "2"}), metav1.ApplyOptions{FieldManager: "n", Force: true})
	if err != nil || got.Data["a"] != "2" || got.Data["b"] != "1" {
		t.Fatalf("forced: %+v, %v", got, err)
	}
	own, err := coreapply.ExtractConfigMap(got, "n")
	if err != nil || len(own.Data) != 1 || own.Data["a"] != "2" {
		t.Errorf("extracted %+v, %v", own, err)
	}
	got, err = maps(2).Apply(ctx, config(map[string]string{}), metav1.ApplyOptions{FieldManager: "m"})
	if err != nil || len(got.Data) != 1 {
		t.Errorf("taken back: %+v, %v", got, err)
	}
	applyStatefulSet(ctx, t, c)
	applyByRuntimeClient(ctx, t, c)
}

type applierOfConfigMaps interface {
	Apply(ctx context.Context, c *coreapply.ConfigMapApplyConfiguration, options metav1.ApplyOptions) (*corev1.ConfigMap, error)
}

// applyStatefulSet merges the containers of two managers, and applies the status apart.
func applyStatefulSet(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	sets := clientsets(t, c)
	config := func(container string) *appsapply.StatefulSetApplyConfiguration {
		labels := map[string]string{"app": "applied"}
		return appsapply.StatefulSet("applied", namespace).WithSpec(appsapply.StatefulSetSpec().
			WithServiceName("applied").WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(
				coreapply.Container().WithName(container).WithImage(container).WithPorts(
					coreapply.ContainerPort().WithContainerPort(53).WithProtocol(corev1.ProtocolUDP),
					coreapply.ContainerPort().WithContainerPort(53).WithProtocol(corev1.ProtocolTCP))))))
	}
	for node, container := range []string{"one", "two"} {
		if _, err := sets[node].AppsV1().StatefulSets(namespace).Apply(ctx, config(container), metav1.ApplyOptions{FieldManager: container}); err != nil {
			t.Fatal(err)
		}
	}
	status := appsapply.StatefulSet("applied", namespace).WithStatus(appsapply.StatefulSetStatus().WithReplicas(1))
	set, err := sets[2].AppsV1().StatefulSets(namespace).ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		t.Fatal(err)
	}
	containers := set.Spec.Template.Spec.Containers
	if len(containers) != 2 || len(containers[0].Ports) != 2 || set.Status.Replicas != 1 {
		t.Errorf("two managers made %+v", set)
	}
	if !slices.ContainsFunc(set.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" && e.Manager == "one" }) {
		t.Errorf("nobody owns the status: %+v", set.ManagedFields)
	}
	own, err := appsapply.ExtractStatefulSet(set, "two")
	if err != nil || len(own.Spec.Template.Spec.Containers) != 1 || *own.Spec.Template.Spec.Containers[0].Name != "two" {
		t.Errorf("extracted %+v, %v", own, err)
	}
	if err := sets[1].AppsV1().StatefulSets(namespace).Delete(ctx, "applied", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// applyByRuntimeClient applies as operators do.
func applyByRuntimeClient(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	direct, err := client.New(c.Config(t, 1), client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	config := coreapply.ConfigMap("applied", namespace).WithLabels(map[string]string{"operated": "yes"})
	if err := direct.Apply(ctx, config, client.FieldOwner("operator"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	var got corev1.ConfigMap
	if err := direct.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "applied"}, &got); err != nil || got.Labels["operated"] != "yes" || got.Data["a"] != "2" {
		t.Errorf("applied %+v, %v", got, err)
	}
	if err := direct.Delete(ctx, &got); err != nil {
		t.Error(err)
	}
}
