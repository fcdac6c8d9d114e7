package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"

	"quorate/apiserver/rest/route"
)

// Prefix is the path prefix of the console. The page itself is at the prefix.
const Prefix = "/console/"

// index is the file that the prefix serves.
const index = "index.html"

//go:embed files
var embedded embed.FS

// headers are the headers of all answers.
//
// The console takes the address of an object from the fragment of the URL and never from the path,
// so that the set of paths is fixed.
var headers = http.Header{
	"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
	"X-Content-Type-Options":       {"nosniff"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"camera=(), geolocation=(), microphone=()"},
}

// contentTypes are the media types of the files by extension. They do not depend on the machine, as
// those of package mime do.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Register adds a route for each file, and a redirect from the path without the last slash.
func Register(add func(method, path string, e *route.Endpoint)) error {
	files, err := load(embedded)
	if err != nil {
		return fmt.Errorf("load the files of the console: %w", err)
	}
	for name, file := range files {
		register(add, Prefix+name, func(c *route.Call) error {
			setHeaders(c.W.Header())
			return c.File(file)
		})
		if name == index {
			register(add, Prefix, func(c *route.Call) error {
				setHeaders(c.W.Header())
				return c.File(file)
			})
		}
	}
	register(add, path.Clean(Prefix), func(c *route.Call) error {
		setHeaders(c.W.Header())
		c.W.Header().Set("Location", Prefix)
		c.W.WriteHeader(http.StatusPermanentRedirect)
		return nil
	})
	return nil
}

// register adds a path for GET and HEAD. net/http and wire/h2 leave out the body for HEAD.
func register(add func(method, path string, e *route.Endpoint), path string, serve func(c *route.Call) error) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		add(method, path, &route.Endpoint{Verb: route.VerbGet, Class: route.ClassRead, Serve: serve})
	}
}

func setHeaders(h http.Header) {
	for name, values := range headers {
		h[name] = values
	}
}

// load returns the files by name.
func load(tree fs.FS) (map[string]*route.File, error) {
	files := map[string]*route.File{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		contentType, known := contentTypes[path.Ext(name)]
		if !known {
			return fmt.Errorf("%s: the extension has no media type", name)
		}
		body, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		files[path.Base(name)] = route.NewFile(contentType, hex.EncodeToString(sum[:16]), body)
		return nil
	})
	return files, err
}
