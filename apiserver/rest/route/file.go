package route

import "net/http"

// File is a response that is the same for every request: it ignores Accept and is never changed.
type File struct {
	contentType, tag []string
	body             []byte
}

// NewFile returns a file. The tag must change with the body; NewFile quotes it. The caller must not
// change the body afterwards.
func NewFile(contentType, tag string, body []byte) *File {
	return &File{contentType: []string{contentType}, tag: []string{`"` + tag + `"`}, body: body}
}

// File responds with a file, or with 304 if the client already has it.
func (c *Call) File(f *File) error {
	c.W.Header()["Etag"] = f.tag
	if matches(c.R.Header["If-None-Match"], f.tag[0]) {
		c.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	return c.send(http.StatusOK, f.body, f.contentType)
}
