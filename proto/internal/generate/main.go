// Command generate compiles the .proto files below the working directory to Go, without protoc: the
// compiler is a library, and the code generators are the tools pinned in go.mod.
//
//	generate [-check]
//
// With -check it writes nothing and fails if a generated file is out of date.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	check := flag.Bool("check", false, "fail when a generated file is not fresh, write nothing")
	flag.Parse()
	if err := run(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check bool) error {
	sources, err := find(".")
	if err != nil {
		return err
	}
	for _, source := range sources {
		req, err := compile(ctx, source)
		if err != nil {
			return err
		}
		for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
			if err := generate(ctx, tool, req, check); err != nil {
				return err
			}
		}
	}
	return nil
}

func find(root string) (sources []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".proto") {
			sources = append(sources, filepath.ToSlash(path))
		}
		return err
	})
	return sources, err
}

// compile returns the request that a protoc plugin expects for one source file.
func compile(ctx context.Context, source string) ([]byte, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{source},
		Parameter:      proto.String("paths=source_relative"),
	}
	for _, file := range files {
		req.ProtoFile = append(req.ProtoFile, protodesc.ToFileDescriptorProto(file))
	}
	return proto.Marshal(req)
}

func generate(ctx context.Context, tool string, req []byte, check bool) error {
	cmd := exec.CommandContext(ctx, "go", "tool", tool)
	cmd.Stdin = bytes.NewReader(req)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &resp); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if resp.Error != nil {
		return fmt.Errorf("%s: %s", tool, resp.GetError())
	}
	for _, file := range resp.File {
		if err := emit(file.GetName(), []byte(file.GetContent()), check); err != nil {
			return err
		}
	}
	return nil
}

func emit(name string, content []byte, check bool) error {
	if !check {
		return os.WriteFile(name, content, 0o644)
	}
	have, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(have, content) {
		return fmt.Errorf("%s is not fresh: run make generate", name)
	}
	return nil
}
