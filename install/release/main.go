// Command release completes a folder of wheels to a release: release FOLDER. It writes
// an archive for each platform, with the binary of its wheel, the version's part of the
// changelog, a list of what is compiled in (an SBOM in SPDX's format) and checksums.
// The same commit gives the same bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"gocuda/install"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: release FOLDER")
		os.Exit(2)
	}
	if err := complete(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func complete(folder string) error {
	if err := checkFolder(folder); err != nil {
		return err
	}
	changes, err := changesOf(install.Version)
	if err != nil {
		return err
	}
	written := map[string][]byte{"CHANGES-" + install.Version + ".md": changes}
	var modules *debug.BuildInfo
	for _, platform := range slices.Sorted(maps.Keys(install.WheelPlatforms)) {
		program, binary, err := binaryOf(filepath.Join(folder, install.WheelName(platform)))
		if err != nil {
			return err
		}
		files := map[string][]byte{program: binary}
		for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
			if files[name], err = os.ReadFile(name); err != nil {
				return err
			}
		}
		top := fmt.Sprintf("gocuda-%s-%s", install.Version, strings.ReplaceAll(platform, "/", "-"))
		name, archive := top+".tar.gz", tarball
		if strings.HasPrefix(platform, "windows/") {
			name, archive = top+".zip", zipped
		}
		if written[name], err = archive(top, files); err != nil {
			return err
		}
		if modules == nil {
			if modules, err = buildinfo.Read(bytes.NewReader(binary)); err != nil {
				return err
			}
		}
	}
	if written["gocuda-"+install.Version+".spdx.json"], err = sbom(modules); err != nil {
		return err
	}
	for name, data := range written {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			return err
		}
	}
	return sums(folder)
}

// checkFolder refuses a folder with files of another version.
func checkFolder(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "gocuda-*"))
	for _, name := range names {
		if !strings.HasPrefix(filepath.Base(name), "gocuda-"+install.Version+"-") && !strings.HasPrefix(filepath.Base(name), "gocuda-"+install.Version+".") {
			return fmt.Errorf("%s is of another version than %s: remove it", name, install.Version)
		}
	}
	return err
}

// binaryOf takes the program out of a wheel.
func binaryOf(wheel string) (name string, data []byte, err error) {
	r, err := zip.OpenReader(wheel)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	for _, f := range r.File {
		if strings.Contains(f.Name, ".data/scripts/") {
			in, err := f.Open()
			if err != nil {
				return "", nil, err
			}
			data, err = io.ReadAll(in)
			return path.Base(f.Name), data, errors.Join(err, in.Close())
		}
	}
	return "", nil, fmt.Errorf("%s has no program", wheel)
}

// changesOf is a version's part of the changelog.
func changesOf(version string) ([]byte, error) {
	data, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	part := regexp.MustCompile(`(?ms)^## ` + regexp.QuoteMeta(version) + `\b.*?(?:\n## |\z)`).FindString(string(data))
	if part == "" {
		return nil, fmt.Errorf("CHANGELOG.md says nothing about %s", version)
	}
	return []byte(strings.TrimSuffix(part, "\n## ")), nil
}

func mode(name string) int64 {
	if strings.HasPrefix(name, "gocuda-kernel") {
		return 0o755
	}
	return 0o644
}

var day = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func tarball(top string, files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := t.WriteHeader(&tar.Header{Name: top + "/" + name, Mode: mode(name), Size: int64(len(files[name])), ModTime: day, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := t.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

func zipped(top string, files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: top + "/" + name, Method: zip.Deflate, Modified: day})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// sbom lists what is compiled into the binary, as SPDX 2.3 has it.
func sbom(info *debug.BuildInfo) ([]byte, error) {
	type pack struct {
		ID       string `json:"SPDXID"`
		Name     string `json:"name"`
		Version  string `json:"versionInfo"`
		Download string `json:"downloadLocation"`
		Analyzed bool   `json:"filesAnalyzed"`
		Refs     []any  `json:"externalRefs,omitempty"`
	}
	type relation struct {
		From string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
	purl := func(name, version string) []any {
		return []any{map[string]string{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + name + "@" + version}}
	}
	id := regexp.MustCompile(`[^A-Za-z0-9.-]`)
	packages := []pack{
		{"SPDXRef-gocuda", info.Main.Path, install.Version, "NOASSERTION", false, nil},
		{"SPDXRef-go", "stdlib", strings.TrimPrefix(info.GoVersion, "go"), "https://go.dev/dl/", false, purl("stdlib", strings.TrimPrefix(info.GoVersion, "go"))},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		packages = append(packages, pack{"SPDXRef-" + id.ReplaceAllString(m.Path, "-"), m.Path, m.Version, "NOASSERTION", false, purl(m.Path, m.Version)})
	}
	relations := []relation{{"SPDXRef-DOCUMENT", "DESCRIBES", packages[0].ID}}
	for _, p := range packages[1:] {
		relations = append(relations, relation{packages[0].ID, "DEPENDS_ON", p.ID})
	}
	data, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "gocuda-" + install.Version,
		"documentNamespace": fmt.Sprintf("https://spdx.org/spdxdocs/gocuda-%s-%x", install.Version, sha256.Sum256([]byte(info.String()))),
		"creationInfo":      map[string]any{"created": day.Format(time.RFC3339), "creators": []string{"Tool: gocuda-release"}},
		"packages":          packages, "relationships": relations,
	}, "", "  ")
	return append(data, '\n'), err
}

// sums writes the checksums of all files, as sha256sum -c reads them.
func sums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		if e.IsDir() || e.Name() == "SHA256SUMS" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
		fmt.Printf("%8.1f MiB  %s\n", float64(len(data))/(1<<20), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(b.String()), 0o666)
}
