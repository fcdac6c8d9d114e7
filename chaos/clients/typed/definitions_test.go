package typed_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	typedapiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"quorate/chaos/clients/internal/cluster"
)

// definitionClients are stock clients for definitions, one for each node, that send protobuf and
// accept nothing else. seen counts the answers by their media types.
func definitionClients(t *testing.T, c *cluster.Cluster, seen *forms) (clients []typedapiextensionsv1.CustomResourceDefinitionInterface) {
	t.Helper()
	for i := range c.Nodes() {
		cfg := rest.CopyConfig(c.Config(t, i))
		cfg.ContentType, cfg.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
		cfg.Wrap(seen.wrap)
		set, err := apiextensions.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, set.ApiextensionsV1().CustomResourceDefinitions())
	}
	return clients
}

// widelyUsed returns the definitions of widely used software, in groups of their own.
func widelyUsed(t *testing.T) (all []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "apiserver", "objects", "structural", "testdata", "crds", "*.json.gz"))
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		s := &apiextensionsv1.JSONSchemaProps{}
		if err := json.Unmarshal(text, s); err != nil {
			t.Fatal(err)
		}
		plural, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json.gz"), "-")
		all = append(all, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".typed.example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "typed.example.com", Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: strings.ToUpper(plural[:1]) + plural[1:]},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: version, Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s},
					Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				}},
			},
		})
	}
	return all
}

// definitions: a typed client in protobuf creates, watches, reads, lists, changes and deletes
// definitions; what it reads is what it wrote, and writing that back changes nothing.
func definitions(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	seen := &forms{seen: map[string]int{}}
	clients := definitionClients(t, c, seen)
	all := widelyUsed(t)
	stream, err := clients[1%len(clients)].Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	for i, definition := range all {
		made, err := clients[i%len(clients)].Create(ctx, definition, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if err != nil {
			t.Fatal(err)
		}
		want := definition.Spec.Versions
		if !reflect.DeepEqual(made.Spec.Versions, want) {
			t.Errorf("%s was created otherwise", definition.Name)
		}
		for event := range stream.ResultChan() {
			o, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition)
			if !ok || event.Type == watch.Error {
				t.Fatalf("watched %+v", event)
			}
			if o.Name == definition.Name {
				if !reflect.DeepEqual(o.Spec.Versions, want) {
					t.Errorf("%s was watched otherwise", o.Name)
				}
				break
			}
		}
	}
	list, err := clients[0].List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) < len(all) {
		t.Fatalf("%d definitions, %v", len(list.Items), err)
	}
	for i, definition := range all {
		client := clients[(i+1)%len(clients)]
		got, err := client.Get(ctx, definition.Name, metav1.GetOptions{})
		if err != nil || !reflect.DeepEqual(got.Spec.Versions, definition.Spec.Versions) {
			t.Errorf("%s is otherwise (%v)", definition.Name, err)
			continue
		}
		replaceDefinition(ctx, t, client, definition.Name)
	}
	seen.mu.Lock()
	for media := range seen.seen {
		if !strings.HasPrefix(media, "application/vnd.kubernetes.protobuf") {
			t.Errorf("an answer was %s", media)
		}
	}
	seen.mu.Unlock()
	for _, definition := range all {
		if err := clients[0].Delete(ctx, definition.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// replaceDefinition writes a definition back as it was read, which changes nothing, then changed,
// then patched.
func replaceDefinition(ctx context.Context, t *testing.T, client typedapiextensionsv1.CustomResourceDefinitionInterface, name string) {
	t.Helper()
	for { // the status of a new definition is still being written
		got, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same, err := client.Update(ctx, got, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil || same.ResourceVersion != got.ResourceVersion || same.Generation != got.Generation {
			t.Errorf("%s was written back as version %s, generation %d (%v)", name, same.ResourceVersion, same.Generation, err)
		}
		same.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["added"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		changed, err := client.Update(ctx, same, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil || changed.Generation != same.Generation+1 || changed.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["added"].Type != "string" {
			t.Errorf("%s was changed to generation %d (%v)", name, changed.Generation, err)
		}
		break
	}
	patched, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	if err != nil || patched.Labels["a"] != "b" {
		t.Errorf("patched %s: %v, %v", name, patched.Labels, err)
	}
}
