package route

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
)

const (
	// maxKeptBytes is the length to which Forget truncates the values that it keeps, and the length
	// of a RequestURI from which on it copies the parts that it keeps.
	maxKeptBytes = 256
	// maxKeptHeaders is how many different headers are shared.
	maxKeptHeaders = 256
)

// keptFields are the header fields that the audit log and the log of requests need at the end.
var keptFields = [...]string{"User-Agent", "X-Forwarded-For"}

// Forget drops the query, the RequestURI, the Host and all header fields of the request but
// User-Agent and X-Forwarded-For, which it truncates to maxKeptBytes. A watch calls it once it has
// started, so that it does not keep its request in memory.
func (c *Call) Forget() {
	c.forgetScratch()
	path := c.R.URL.Path
	if len(c.R.RequestURI) > maxKeptBytes { // they may all be parts of it
		path, c.Namespace, c.Name = strings.Clone(path), strings.Clone(c.Namespace), strings.Clone(c.Name)
		c.R.Method, c.R.Proto = strings.Clone(c.R.Method), strings.Clone(c.R.Proto) // over HTTP/1
	}
	*c.R.URL = url.URL{Path: path}
	c.R.RequestURI, c.R.Host = "", ""
	c.R.Header = c.Kept.of(c.R.Header)
}

// KeptHeaders holds headers that Forget has made. Calls with equal values share one, because a
// client often has many watches. The zero value has none.
type KeptHeaders struct {
	mu  sync.Mutex
	all map[[len(keptFields)]string]http.Header // at most maxKeptHeaders
}

// of returns what Forget keeps of a header. It must not be changed.
func (k *KeptHeaders) of(h http.Header) http.Header {
	var values [len(keptFields)]string
	for i, name := range keptFields {
		v := h.Get(name)
		values[i] = v[:min(len(v), maxKeptBytes)]
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept, ok := k.all[values]; ok {
		return kept
	}
	kept := make(http.Header, len(keptFields))
	for i, name := range keptFields {
		if values[i] != "" {
			values[i] = strings.Clone(values[i])
			kept[name] = []string{values[i]}
		}
	}
	if k.all == nil || len(k.all) >= maxKeptHeaders {
		k.all = map[[len(keptFields)]string]http.Header{} // calls go on with those that they have
	}
	k.all[values] = kept
	return kept
}
