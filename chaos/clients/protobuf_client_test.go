package clients_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubewatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const kubernetesProtobuf = "application/vnd.kubernetes.protobuf"

// answers notes what came back in another form than protobuf.
type answers struct {
	mu     sync.Mutex
	count  int
	others []string
}

// roundTripper passes a client's requests on and looks at what is answered.
func (a *answers) roundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.count++
		media := resp.Header.Get("Content-Type")
		if media != kubernetesProtobuf && media != kubernetesProtobuf+";stream=watch" {
			a.others = append(a.others, r.Method+" "+r.URL.Path+": "+media)
		}
		return resp, nil
	})
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pods returns stock clients for the pods of a namespace, one for each node, that speak nothing but
// protobuf.
func pods(t *testing.T, c *cluster, a *answers) []typedcorev1.PodInterface {
	t.Helper()
	var clients []typedcorev1.PodInterface
	for _, node := range c.Nodes() {
		cfg, err := clientcmd.BuildConfigFromFlags(node.API, c.kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		cfg.ContentType, cfg.AcceptContentTypes = kubernetesProtobuf, kubernetesProtobuf
		cfg.Wrap(a.roundTripper)
		set, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, set.CoreV1().Pods("default"))
	}
	return clients
}

func web() *corev1.Pod {
	grace := int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web", "tier": "front"}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/web:1", Env: []corev1.EnvVar{{Name: "COLOUR", Value: "green"}},
				Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			}},
			Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
}

// TestProtobufClient uses pods on three nodes with a stock client that takes nothing but protobuf,
// each call to another node.
func TestProtobufClient(t *testing.T) {
	c := startCluster(t, binaries.quorate, 3)
	seen := &answers{}
	nodes := pods(t, c, seen)
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()

	list, err := nodes[1].List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 0 || list.ResourceVersion == "" {
		t.Fatalf("the list before: %+v, %v", list, err)
	}
	stream, err := nodes[2].Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()

	made, err := nodes[0].Create(ctx, web(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.UID == "" || made.CreationTimestamp.IsZero() || made.Spec.Containers[0].Ports[0].Protocol != corev1.ProtocolTCP ||
		made.Spec.Volumes[0].EmptyDir == nil || made.Status.Phase != corev1.PodPending {
		t.Errorf("created %+v", made)
	}
	_, err = nodes[1].Create(ctx, web(), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second create: %v", err)
	}
	read, err := nodes[1].Get(ctx, "web", metav1.GetOptions{})
	if err != nil || read.ResourceVersion != made.ResourceVersion || read.Spec.Containers[0].Env[0].Value != "green" {
		t.Errorf("read %+v, %v", read, err)
	}

	read.Labels["tier"] = "back"
	updated, err := nodes[2].Update(ctx, read, metav1.UpdateOptions{})
	if err != nil || updated.Labels["tier"] != "back" {
		t.Fatalf("updated %+v, %v", updated, err)
	}
	if _, err := nodes[0].Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
	merged, err := nodes[0].Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"tier":null,"by":"merge"}}}`), metav1.PatchOptions{})
	if err != nil || len(merged.Labels) != 2 || merged.Labels["by"] != "merge" {
		t.Fatalf("merged %+v, %v", merged, err)
	}
	strategic, err := nodes[1].Patch(ctx, "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"containers":[{"name":"main","image":"registry.example/web:2"}]}}`), metav1.PatchOptions{})
	if err != nil || strategic.Spec.Containers[0].Image != "registry.example/web:2" || len(strategic.Spec.Containers[0].Env) != 1 {
		t.Fatalf("patched %+v, %v", strategic, err)
	}

	list, err = nodes[2].List(ctx, metav1.ListOptions{LabelSelector: "by=merge"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Spec.Containers[0].Image != "registry.example/web:2" {
		t.Errorf("listed %+v, %v", list, err)
	}
	if err := nodes[0].Delete(ctx, "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))}); err != nil {
		t.Fatal(err)
	}
	if _, err := nodes[1].Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a read after the delete: %v", err)
	}
	wantEvents(t, stream, made.ResourceVersion, updated.ResourceVersion, merged.ResourceVersion, strategic.ResourceVersion)
	checkAnswers(t, seen)
}

// wantEvents expects the pod's life as the stream tells it: each version once, then its end.
func wantEvents(t *testing.T, stream kubewatch.Interface, versions ...string) {
	t.Helper()
	var got []string
	for e := range stream.ResultChan() {
		pod, isPod := e.Object.(*corev1.Pod)
		if !isPod || pod.Name != "web" {
			t.Fatalf("event %s %+v", e.Type, e.Object)
		}
		if e.Type == kubewatch.Deleted {
			if !slices.Equal(got, versions) {
				t.Errorf("the watch reported versions %v, want %v", got, versions)
			}
			return
		}
		if first := len(got) == 0; first != (e.Type == kubewatch.Added) {
			t.Errorf("event %d is %s", len(got), e.Type)
		}
		got = append(got, pod.ResourceVersion)
	}
	t.Errorf("the watch ended after %v", got)
}

func checkAnswers(t *testing.T, a *answers) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.others) > 0 || a.count < 12 {
		t.Errorf("%d answers; not in protobuf:\n%s", a.count, strings.Join(a.others, "\n"))
	}
}
