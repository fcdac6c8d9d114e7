package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"quorate/bench/solo"
)

// discard reads a list as a whole.
func discard(ctx context.Context, client *solo.Client, path string) error {
	resp, err := client.Open(ctx, path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// pages reads a list in pages.
func pages(ctx context.Context, client *solo.Client, path string, limit int) error {
	for token := ""; ; {
		resp, err := client.Open(ctx, fmt.Sprintf("%s?limit=%d&continue=%s", path, limit, url.QueryEscape(token)))
		if err != nil {
			return err
		}
		content, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
		if token, err = continueOf(content); err != nil || token == "" {
			return err
		}
	}
}

// continueOf returns the continue value of a page, whose metadata is before its items; "" if it is
// the last one.
func continueOf(page []byte) (token string, err error) {
	head, _, found := bytes.Cut(page, []byte(`"items"`))
	if !found {
		return "", fmt.Errorf("a page without items begins with %.200s", page)
	}
	_, rest, found := bytes.Cut(head, []byte(`"continue":`))
	if !found {
		return "", nil
	}
	err = json.NewDecoder(bytes.NewReader(rest)).Decode(&token)
	return token, err
}
