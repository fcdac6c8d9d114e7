package route

import (
	"quorate/apiserver/wire/negotiate"
)

// Choose negotiates the document and form of the response among variants. The first variant is the
// document itself, the others are conversions.
func (c *Call) Choose(variants []negotiate.Variant) (negotiate.Form, negotiate.Target, error) {
	// The form depends on the query only through the parameter pretty.
	if c.R.URL.RawQuery == "" {
		return negotiate.Choose(c.R, nil, variants...)
	}
	form, target, err := negotiate.Choose(c.R, c.Query(), variants...)
	if err == nil {
		_, err = c.Query().Bool("pretty") // 400 unless a boolean (A57)
	}
	return form, target, err
}

// ChooseStream negotiates the document and form of the objects in a watch stream. The first variant
// is the object itself.
func (c *Call) ChooseStream(variants []negotiate.Variant) (negotiate.Form, negotiate.Target, error) {
	return negotiate.ChooseStream(c.R, variants...)
}
