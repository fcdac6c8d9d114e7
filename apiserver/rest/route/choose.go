package route

import (
	"quorate/apiserver/wire/negotiate"
)

// Choose chooses among the documents that the answer can be, the first of which is the document
// itself, and their forms.
func (c *Call) Choose(variants []negotiate.Variant) (negotiate.Form, negotiate.Target, error) {
	// An answer's form depends on the query only through `pretty`.
	if c.R.URL.RawQuery == "" {
		return negotiate.Choose(c.R, nil, variants...)
	}
	form, target, err := negotiate.Choose(c.R, c.Query(), variants...)
	if err == nil {
		_, err = c.Query().Bool("pretty") // 400 unless a boolean (A57)
	}
	return form, target, err
}

// ChooseStream chooses among the documents that the objects of a watch stream can be, the first of
// which is the object itself.
func (c *Call) ChooseStream(variants []negotiate.Variant) (negotiate.Form, negotiate.Target, error) {
	return negotiate.ChooseStream(c.R, variants...)
}
