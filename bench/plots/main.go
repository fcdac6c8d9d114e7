package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// The folders, seen from this one.
const (
	results = "../results"
	images  = "../../docs/images"
)

func main() {
	check := flag.Bool("check", false, "fail unless the images are those of the tables")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "plots:", err)
		os.Exit(1)
	}
}

// run writes all images, or checks those that are there.
func run(check bool) error {
	for _, c := range charts() {
		drawn, err := c.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		path := filepath.Join(images, c.name+".svg")
		if !check {
			if err := os.WriteFile(path, drawn, 0o644); err != nil { //nolint:gosec // a document
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, drawn) {
			return fmt.Errorf("%s is not drawn from the tables: make plots", path)
		}
	}
	return nil
}
