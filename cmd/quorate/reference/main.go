// Command reference writes the pages of docs that follow from the code: flags.md from the command
// line, metrics.md from the definitions of the metrics, and api from the kinds. The argument -root
// is the root of the repository.
//
//	reference [-check] [-root DIR]
//
// With -check it writes nothing, and fails if a page is not up to date.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:generate go run . -root ../../..

func main() {
	check := flag.Bool("check", false, "fail when a page is not fresh, write nothing")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	pages, err := generate(root)
	if err != nil {
		return err
	}
	docs := filepath.Join(root, "docs")
	if check {
		return compare(docs, pages)
	}
	if err := os.RemoveAll(filepath.Join(docs, apiFolder)); err != nil { // it may have pages of groups that are no more
		return err
	}
	for name, text := range pages {
		path := filepath.Join(docs, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the pages by their paths in docs.
func generate(root string) (map[string][]byte, error) {
	metrics, err := metricsPage(root)
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{"flags.md": flagsPage(), "metrics.md": metrics}
	api, err := apiPages()
	if err != nil {
		return nil, err
	}
	maps.Copy(pages, api)
	return pages, nil
}

// compare returns an error that names every page which is missing, superfluous or out of date.
func compare(docs string, pages map[string][]byte) error {
	var stale []string
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		text, err := os.ReadFile(filepath.Join(docs, name))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(text, pages[name]) {
			stale = append(stale, name)
		}
	}
	there, err := filepath.Glob(filepath.Join(docs, apiFolder, "*"))
	if err != nil {
		return err
	}
	for _, path := range there {
		if name := apiFolder + "/" + filepath.Base(path); pages[name] == nil {
			stale = append(stale, name)
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("docs/%s: not what the code gives: run make generate", strings.Join(stale, ", docs/"))
	}
	return nil
}

// cell makes a text fit for the cell of a table.
func cell(text string) string {
	return strings.NewReplacer("\n", " ", "|", `\|`, "<", "&lt;", ">", "&gt;").Replace(strings.TrimSpace(text))
}

// code formats a text as code, "" for none.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}
