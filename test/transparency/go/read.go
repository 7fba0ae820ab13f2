// Reads a log of ours with the packages that read the Go checksum database, and says what they say. In: a JSON object on
// standard input. Out: "ok", or the first thing that does not fit.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Folder      string
	Key         string
	Checkpoint  string
	Index       int64
	Entry       string
	Inclusion   []string
	OldSize     int64
	OldRoot     string
	Consistency []string
}

type tiles struct{ folder string }

func (t tiles) Height() int { return 8 }

func (t tiles) ReadTiles(names []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, name := range names {
		// Theirs has the height in the path: tile/8/0/000.
		path := strings.Replace(name.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(t.folder, path))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (t tiles) SaveTiles(names []tlog.Tile, data [][]byte) {}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func hashes(texts []string) []tlog.Hash {
	var all []tlog.Hash
	for _, text := range texts {
		hash, err := tlog.ParseHash(text)
		must(err)
		all = append(all, hash)
	}
	return all
}

func same(what string, one, other []tlog.Hash) {
	if fmt.Sprint(one) != fmt.Sprint(other) {
		must(fmt.Errorf("%s differs: %v, %v", what, one, other))
	}
}

func main() {
	var in input
	must(json.NewDecoder(os.Stdin).Decode(&in))
	verifier, err := note.NewVerifier(in.Key)
	must(err)
	opened, err := note.Open([]byte(in.Checkpoint), note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, tiles{in.Folder})

	entry, err := base64.StdEncoding.DecodeString(in.Entry)
	must(err)
	record, err := tlog.ProveRecord(size, in.Index, reader)
	must(err)
	same("the inclusion proof", record, hashes(in.Inclusion))
	must(tlog.CheckRecord(hashes(in.Inclusion), size, root, in.Index, tlog.RecordHash(entry)))

	old, err := tlog.ParseHash(in.OldRoot)
	must(err)
	tree, err := tlog.ProveTree(size, in.OldSize, reader)
	must(err)
	same("the consistency proof", tree, hashes(in.Consistency))
	must(tlog.CheckTree(hashes(in.Consistency), size, root, in.OldSize, old))
	fmt.Println("ok")
}
