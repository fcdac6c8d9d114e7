package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var r release
	flags := flag.NewFlagSet("dist", flag.ExitOnError)
	flags.StringVar(&r.version, "version", "", "version of the binaries, such as v1.2.3")
	flags.StringVar(&r.commit, "commit", "", "commit that the binaries were built from")
	date := flags.String("date", "", "time of the commit, in RFC 3339")
	archs := flags.String("arch", "amd64,arm64", "architectures, separated by commas")
	flags.StringVar(&r.root, "root", ".", "root of the repository")
	flags.StringVar(&r.out, "out", "bin/dist", "directory with the binaries, which receives the artifacts")
	flags.StringVar(&r.man, "man", "bin/man", "directory with the manual pages")
	_ = flags.Parse(args) // ExitOnError: Parse does not return errors.
	if r.version == "" || flags.NArg() > 0 {
		return errors.New("usage: dist -version VERSION -date TIME [flags]")
	}
	var err error
	if r.date, err = time.Parse(time.RFC3339, *date); err != nil {
		return fmt.Errorf("time of the commit: %w", err)
	}
	r.date = r.date.UTC()
	return r.write(strings.Split(*archs, ","))
}

// release describes what is published.
type release struct {
	version, commit string
	date            time.Time // Of the commit, and of every file in the artifacts.
	root, out, man  string
}

// write makes the artifacts of each architecture from its binary, and then SHA256SUMS.
func (r release) write(archs []string) error {
	var names []string
	for _, arch := range archs {
		binary := r.name(arch)
		for _, artifact := range []struct {
			name string
			make func(binary, arch string) ([]byte, error)
		}{
			{binary + ".cdx.json", r.sbom},
			{binary + ".oci.tar", r.image},
			{fmt.Sprintf("quorate_%s_%s.deb", debianVersion(r.version), arch), r.deb},
		} {
			content, err := artifact.make(filepath.Join(r.out, binary), arch)
			if err != nil {
				return fmt.Errorf("make %s: %w", artifact.name, err)
			}
			if err := os.WriteFile(filepath.Join(r.out, artifact.name), content, 0o644); err != nil {
				return err
			}
			names = append(names, artifact.name)
		}
		names = append(names, binary)
	}
	return r.sums(names)
}

// name returns the name of an architecture's binary, with which those of its artifacts begin.
func (r release) name(arch string) string {
	return fmt.Sprintf("quorate_%s_linux_%s", strings.TrimPrefix(r.version, "v"), arch)
}
