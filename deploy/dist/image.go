package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Who owns the files of the image: the user of deploy/Dockerfile.
const imageUser = 65532

// image returns an archive of the image that deploy/Dockerfile describes, made without Docker. It
// is an OCI image layout with the manifest.json of `docker save` beside it, so that every tool reads
// it: skopeo, crane and podman the layout, and docker load, also of engines that don't know layouts.
func (r release) image(binary, arch string) ([]byte, error) {
	layer, err := r.layer(binary)
	if err != nil {
		return nil, err
	}
	dockerfile, err := os.ReadFile(filepath.Join(r.root, "deploy", "Dockerfile"))
	if err != nil {
		return nil, err
	}
	config, err := imageConfig(string(dockerfile))
	if err != nil {
		return nil, fmt.Errorf("deploy/Dockerfile: %w", err)
	}
	config.Labels = map[string]string{
		"org.opencontainers.image.title":    "quorate",
		"org.opencontainers.image.version":  r.version,
		"org.opencontainers.image.revision": r.commit,
		"org.opencontainers.image.created":  r.date.Format(time.RFC3339),
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: r.date}
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: created, Config: config, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	img, err = mutate.Append(img, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: created, CreatedBy: "make dist"},
	})
	if err != nil {
		return nil, err
	}
	return r.archive(img, arch)
}

// layer returns the image's only layer: the binary, and /data, which its user owns.
func (r release) layer(binary string) (v1.Layer, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, entry := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o700},
		{Typeflag: tar.TypeReg, Name: "quorate", Mode: 0o755, Size: int64(len(content))},
	} {
		entry.Uid, entry.Gid, entry.ModTime = imageUser, imageUser, r.date
		if err := w.WriteHeader(&entry); err != nil {
			return nil, err
		}
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// archive writes an image as a layout with a manifest.json, and returns both as one tar file.
func (r release) archive(img v1.Image, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "quorate-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return nil, err
	}
	tag := strings.ReplaceAll(strings.TrimPrefix(r.version, "v"), "+", "-")
	err = path.AppendImage(img, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}),
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag}))
	if err != nil {
		return nil, err
	}
	manifest, err := dockerManifest(img, "quorate:"+tag)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600); err != nil {
		return nil, err
	}
	return r.tree(os.DirFS(dir))
}

// dockerManifest returns the manifest.json by which docker load finds the blobs of the layout.
func dockerManifest(img v1.Image, tag string) ([]byte, error) {
	manifest, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	entry := tarball.Descriptor{Config: blob(manifest.Config.Digest), RepoTags: []string{tag}}
	for _, layer := range manifest.Layers {
		entry.Layers = append(entry.Layers, blob(layer.Digest))
	}
	return json.Marshal(tarball.Manifest{entry})
}

// tree returns the files of a directory as a tar file, in the order of their names.
func (r release) tree(dir fs.FS) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		header := tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: r.date}
		var content []byte
		if !entry.IsDir() {
			if content, err = fs.ReadFile(dir, name); err != nil {
				return err
			}
			header = tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, ModTime: r.date, Size: int64(len(content))}
		}
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
