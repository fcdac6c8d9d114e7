package typed_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"quorate/chaos/clients/internal/cluster"
)

const (
	namespace = "default"
	// patience bounds each subtest on a slow machine.
	patience = 3 * time.Minute
)

// TestClients uses what needs no faults, each client's calls spread over the nodes.
func TestClients(t *testing.T) {
	c := cluster.Start(t, 3)
	for _, tc := range []testCase{
		{"typed clients", typedClients},
		{"status has its own updates", statuses},
		{"a dynamic client", dynamicClient},
		{"a metadata client", metadataClient},
		{"a pager", pages},
		{"scales", scales},
		{"server-side apply", applies},
		{"discovery and mapping", discoveries},
		{"events", events},
		{"definitions in protobuf", definitions},
	} {
		tc.run(t, c)
	}
}

// testCase is a test of a running cluster.
type testCase struct {
	name string
	test func(ctx context.Context, t *testing.T, c *cluster.Cluster)
}

func (tc testCase) run(t *testing.T, c *cluster.Cluster) {
	t.Run(tc.name, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		tc.test(ctx, t, c)
	})
}

// clientsets are stock clients, one for each node.
func clientsets(t *testing.T, c *cluster.Cluster) (sets []*kubernetes.Clientset) {
	t.Helper()
	for i := range c.Nodes() {
		set, err := kubernetes.NewForConfig(c.Config(t, i))
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	return sets
}

// of picks the client of one kind out of each set.
func of[O object, L runtime.Object](sets []*kubernetes.Clientset, pick func(*kubernetes.Clientset) collection[O, L]) (all []collection[O, L]) {
	for _, set := range sets {
		all = append(all, pick(set))
	}
	return all
}

func typedClients(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	sets := clientsets(t, c)
	meta := metav1.ObjectMeta{Name: "life"}
	t.Run("configmaps", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.ConfigMap, *corev1.ConfigMapList] {
			return s.CoreV1().ConfigMaps(namespace)
		}), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"colour": "green"}, BinaryData: map[string][]byte{"raw": {0, 255}}})
	})
	t.Run("pods", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.Pod, *corev1.PodList] {
			return s.CoreV1().Pods(namespace)
		}), &corev1.Pod{ObjectMeta: meta, Spec: template("").Spec})
	})
	t.Run("nodes", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.Node, *corev1.NodeList] {
			return s.CoreV1().Nodes()
		}), &corev1.Node{ObjectMeta: meta})
	})
	t.Run("persistentvolumes", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.PersistentVolume, *corev1.PersistentVolumeList] {
			return s.CoreV1().PersistentVolumes()
		}), &corev1.PersistentVolume{ObjectMeta: meta, Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}},
		}})
	})
	t.Run("statefulsets", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
			return s.AppsV1().StatefulSets(namespace)
		}), statefulSet("life"))
	})
	t.Run("daemonsets", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*appsv1.DaemonSet, *appsv1.DaemonSetList] {
			return s.AppsV1().DaemonSets(namespace)
		}), &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector("life"), Template: template("life")}})
	})
	t.Run("secrets", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.Secret, *corev1.SecretList] {
			return s.CoreV1().Secrets(namespace)
		}), &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"password": {0, 1, 255}}})
	})
	t.Run("services", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.Service, *corev1.ServiceList] {
			return s.CoreV1().Services(namespace)
		}), &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "life"}, Ports: []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}})
	})
	t.Run("serviceaccounts", func(t *testing.T) {
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*corev1.ServiceAccount, *corev1.ServiceAccountList] {
			return s.CoreV1().ServiceAccounts(namespace)
		}), &corev1.ServiceAccount{ObjectMeta: meta})
	})
	t.Run("leases", func(t *testing.T) {
		holder, seconds := "somebody", int32(15)
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*coordinationv1.Lease, *coordinationv1.LeaseList] {
			return s.CoordinationV1().Leases(namespace)
		}), &coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &metav1.MicroTime{Time: time.Now()},
		}})
	})
	t.Run("cronjobs", func(t *testing.T) {
		pod := template("life")
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		live(ctx, t, of(sets, func(s *kubernetes.Clientset) collection[*batchv1.CronJob, *batchv1.CronJobList] {
			return s.BatchV1().CronJobs(namespace)
		}), &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{
			Schedule: "*/5 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: pod}},
		}})
	})
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/web:1"}}},
	}
}

func statefulSet(name string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       appsv1.StatefulSetSpec{ServiceName: name, Selector: selector(name), Template: template(name)},
	}
}

// statuses: an update of the status leaves the rest, and one of the rest leaves the status.
func statuses(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	sets := clientsets(t, c)
	pods := sets[0].CoreV1().Pods(namespace)
	made, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "status"}, Spec: template("").Spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	image := made.Spec.Containers[0].Image
	made.Status.Phase, made.Spec.Containers[0].Image = corev1.PodRunning, "registry.example/web:2"
	updated, err := sets[1].CoreV1().Pods(namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil || updated.Status.Phase != corev1.PodRunning || updated.Spec.Containers[0].Image != image {
		t.Fatalf("status updated: %+v, %v", updated, err)
	}
	updated.Status.Phase, updated.Spec.Containers[0].Image = corev1.PodFailed, "registry.example/web:3"
	updated, err = sets[2].CoreV1().Pods(namespace).Update(ctx, updated, metav1.UpdateOptions{})
	if err != nil || updated.Status.Phase != corev1.PodRunning || updated.Spec.Containers[0].Image != "registry.example/web:3" {
		t.Fatalf("updated: %+v, %v", updated, err)
	}
	if err := pods.Delete(ctx, "status", now()); err != nil {
		t.Error(err)
	}
}
