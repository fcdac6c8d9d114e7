package auth

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync/atomic"

	"quorate/apiserver/access/reload"
	"quorate/apiserver/wire/cancel"
)

// tokenFile holds the static tokens of the last version of a file that was read without an error.
type tokenFile struct {
	file   *reload.File                            // nil if there is none
	tokens atomic.Pointer[map[string]*staticToken] // never changed once stored
}

// staticToken is a token of the file. It stays the same one while the file gives it to the same
// user.
type staticToken struct {
	user      *User
	withdrawn cancel.Context // ends when the token is removed
}

func newStaticToken(u *User) *staticToken {
	t := &staticToken{user: u}
	t.withdrawn.Init(context.Background())
	return t
}

// openTokenFile reads a token file. An empty path means no static tokens.
func openTokenFile(path string) (*tokenFile, error) {
	f := &tokenFile{}
	f.tokens.Store(&map[string]*staticToken{})
	if path == "" {
		return f, nil
	}
	f.file = reload.Open(path)
	return f, f.read()
}

// token returns a static token.
func (f *tokenFile) token(token string) (*staticToken, bool) {
	known, ok := (*f.tokens.Load())[token]
	return known, ok
}

// run reads the file again whenever it changes, and passes the result to reloaded. When the file
// can't be read, run keeps the previous tokens and logs the error once.
func (f *tokenFile) run(ctx context.Context, log *slog.Logger, reloaded func(error)) error {
	if f.file == nil {
		return nil
	}
	return f.file.Follow(ctx, func() {
		err := f.read()
		reloaded(err)
		if err != nil {
			log.Error("the token file has changed and can't be read; the tokens read before stay valid", "error", err)
			return
		}
		log.Info("read the token file again", "path", f.file.Path(), "tokens", len(*f.tokens.Load()))
	})
}

// read replaces the tokens with those of the file and withdraws the ones that it no longer
// contains. A line is `token,user,uid,"group,group"`, where the groups are optional (semantics J7).
// read refuses a file that its group can write, or to which others than its owner and group have
// any access.
func (f *tokenFile) read() error {
	path := f.file.Path()
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open token file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read token file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("token file %s is accessible to others (mode %04o): run chmod 600 %[1]s", path, mode)
	}
	users, err := parseTokens(file)
	if err != nil {
		return fmt.Errorf("read token file %s: %w", path, err)
	}
	f.replace(users)
	return nil
}

// replace makes the tokens those of users, and withdraws the ones that are no longer among them.
func (f *tokenFile) replace(users map[string]*User) {
	old := *f.tokens.Load()
	tokens := make(map[string]*staticToken, len(users))
	for token, user := range users {
		if same := old[token]; same != nil && reflect.DeepEqual(same.user, user) {
			tokens[token] = same
			continue
		}
		tokens[token] = newStaticToken(user)
	}
	f.tokens.Store(&tokens)
	for token, t := range old {
		if tokens[token] != t {
			t.withdrawn.Cancel(nil)
		}
	}
}

func parseTokens(r io.Reader) (map[string]*User, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = -1
	lines.TrimLeadingSpace = true
	lines.Comment = '#'
	users := make(map[string]*User)
	for {
		record, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return users, nil
		}
		if err != nil {
			// A csv error may quote the line and the token in it.
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("line %d is not comma-separated values", line)
		}
		line, _ := lines.FieldPos(0)
		if err := addToken(users, record); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func addToken(users map[string]*User, record []string) error {
	if len(record) < 3 || len(record) > 4 {
		return fmt.Errorf("%d columns, want token,user,uid and optionally groups", len(record))
	}
	token, id := record[0], Identity{Name: record[1], UID: record[2]}
	if token == "" || id.Name == "" {
		return errors.New("token and user must not be empty")
	}
	if _, taken := users[token]; taken {
		return errors.New("the token stands in the file twice")
	}
	if len(record) == 4 {
		for group := range strings.SplitSeq(record[3], ",") {
			if group = strings.TrimSpace(group); group != "" {
				id.Groups = append(id.Groups, group)
			}
		}
	}
	users[token] = newUser(id)
	return nil
}
