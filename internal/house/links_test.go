package house

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

// toOthers are links to other sites: in brackets, in angles or bare.
var toOthers = regexp.MustCompile(`https?:[^\s<>"'\x60\])]*`)

// Links to other sites are well-formed, by https, and written one way: what two pages link
// to differs by more than a slash, "www." or the case of letters. None is tried, since
// tests need no network.
func TestLinksToOthers(t *testing.T) {
	first := map[string]string{} // how it is written, by what is compared
	for _, name := range documents(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range toOthers.FindAllString(fencedCode.ReplaceAllString(string(data), ""), -1) {
			link = strings.TrimRight(link, ".,;:")
			u, err := url.Parse(link)
			if err == nil && (u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost") { // this machine
				continue
			}
			if err != nil || u.Scheme != "https" || !strings.Contains(u.Host, ".") || u.User != nil {
				t.Errorf("%s: %q is no link to another site by https (%v)", name, link, err)
				continue
			}
			same := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(link, "https://www."), "/"))
			same = strings.TrimPrefix(same, "https://")
			if was, ok := first[same]; !ok {
				first[same] = link
			} else if was != link {
				t.Errorf("%s has %s, another page %s", name, link, was)
			}
		}
	}
	if len(first) < 20 {
		t.Errorf("only %d links were found", len(first))
	}
}
