package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"quorate/cmd/quorate/datadir"
	"quorate/progress"
	"quorate/raftstore/backup"
)

// standard is the file name that stands for standard input or output.
const standard = "-"

func newBackup(p *Process) *cobra.Command {
	var a access
	var o output
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write the whole state to a file (- for standard output) while the cluster runs", Args: arguments(1, 1),
		Long: "Write the whole state to a file, or to standard output for -, from any node of a cluster with a quorum.\n" +
			"It contains every write that was acknowledged before the command began; writes continue meanwhile.\n" +
			"The file is complete and verified, or it does not exist.\n" +
			"It contains all objects, Secrets in clear text, and no key: keep a copy of the cluster key\n" +
			"(DATA/cluster.key) elsewhere. Without it, the tokens, certificates and kubeconfigs of the old cluster\n" +
			"are not valid for the one that quorate restore makes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			h, err := a.backup(cmd.Context(), p, args[0])
			if err != nil {
				return err
			}
			made := backedUp{File: "standard output", saved: savedOf(h), Node: h.Node, Build: h.Build}
			to := p.Stderr // standard output is that of the backup
			if args[0] != standard {
				if made.File, err = absolutePath(args[0]); err != nil {
					return err
				}
				if o.isDocument() {
					to = p.Stdout
				}
			}
			return o.print(to, made, func(w io.Writer, _ bool) error {
				_, err := fmt.Fprintf(w, "backed up %d objects, version %d, to %s; it holds no key: keep the cluster's key as well\n",
					made.Objects, made.Version, made.File)
				return err
			})
		},
	}
	o.register(cmd)
	a.register(p, cmd.Flags())
	cmd.Flags().Lookup("timeout").Usage = "longest time to wait for the first bytes, and between bytes"
	return cmd
}

func (a *access) backup(ctx context.Context, p *Process, file string) (h backup.Header, err error) {
	if err := replaceable(file); err != nil {
		return h, err
	}
	client, err := a.client()
	if err != nil {
		return h, err
	}
	defer client.Close()
	shown := progress.New(p.Stderr, "backup", 0, progress.Bytes()) // a node does not know the size before it has written all
	defer shown.End()
	err = client.Backup(ctx, a.timeout, func(from io.Reader) error {
		from = shown.Reader(from)
		if file == standard {
			h, err = backup.Verify(io.TeeReader(from, p.Stdout))
			return incomplete(err)
		}
		h, err = writeBackup(from, file)
		return err
	})
	return h, err
}

// replaceable returns an error for a file that a backup must not replace, such as /dev/null.
func replaceable(file string) error {
	info, err := os.Stat(file)
	if file == standard || err != nil { // it does not exist, or writing it reports why
		return nil
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: give - to write to standard output", file)
	}
	return nil
}

// writeBackup writes a backup to a file, which gets its name only after it was synced, read back
// and verified.
func writeBackup(from io.Reader, file string) (h backup.Header, err error) {
	err = datadir.WriteStream(file, 0o600, func(f *os.File) error {
		if _, err := io.Copy(f, from); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		h, err = backup.Verify(f)
		return incomplete(err)
	})
	return h, err
}

// incomplete adds the remedy to the error of a backup that was damaged during the transfer.
func incomplete(err error) error {
	if bad, ok := errors.AsType[*backup.Damaged](err); ok {
		return fmt.Errorf("the received backup %w: take it again", bad)
	}
	return err
}
