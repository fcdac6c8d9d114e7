package auth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// readTokenFile reads lines of `token,user,uid,"group,group"`; the groups may be left out (semantics J7).
func readTokenFile(path string) (map[string]*User, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open token file: %w", err)
	}
	defer f.Close()
	users, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("read token file %s: %w", path, err)
	}
	return users, nil
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
			// A csv error may quote the line, and with it a token.
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
