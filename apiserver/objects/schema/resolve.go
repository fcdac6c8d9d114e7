package schema

import "fmt"

// resolve looks up the functions that a file names under a key.
func resolve[F any](c *compiler, table map[string]F, key string, names ...string) ([]F, error) {
	var fns []F
	for _, name := range names {
		fn, err := resolveOne(c, table, key, name)
		if err != nil {
			return nil, err
		}
		if !c.lenient {
			fns = append(fns, fn)
		}
	}
	return fns, nil
}

// resolveOne looks up the function that a file names under a key. It returns the zero value if name
// is empty.
func resolveOne[F any](c *compiler, table map[string]F, key, name string) (fn F, err error) {
	if name == "" || c.lenient {
		return fn, nil
	}
	fn, ok := table[name]
	if !ok {
		return fn, fmt.Errorf("%s: there is no hook %q of that type", key, name)
	}
	return fn, nil
}
