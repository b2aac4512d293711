package api

import (
	"strings"
	"testing"
)

// A thing deleted and created again under the same address is another thing: an ETag of the old one neither answers
// 304 for it nor allows to delete or replace it.
func TestNoETagComesBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const night = "/v1/clusters/night"
	for _, c := range []struct{ list, at, body string }{
		{night + "/vm-types", "/large", strings.Replace(someVMType, `"small"`, `"large"`, 1)},
		{night + "/contracts", "/more", strings.Replace(someContract, "three-year", "more", 1)},
		{night + "/profiles", "/other", strings.Replace(someProfile, `"etl"`, `"other"`, 1)},
		{night + "/profiles", "/other/versions/1", strings.Replace(someProfile, `"etl"`, `"other"`, 1)},
		{night + "/classes", "/again", strings.Replace(adHoc, `"ad-hoc"`, `"again"`, 1)},
		{night + "/scenarios", "/more", `{"name":"more","changes":[{"what":"deadline","class":"nightly","factor":2}]}`},
		{night + "/offers", "/o", `{"name":"o","vm_type":"small","price":"0.10","term_hours":24,"billing":"always"}`},
		{night + "/report-schedules", "/r", `{"name":"r","every":"day"}`},
		{"/v1/clusters", "/day", `{"name":"day"}`},
		{"/v1/clusters", "/day/document", `{"name":"day"}`},
	} {
		t.Run(c.list+c.at, func(t *testing.T) {
			one := c.list + c.at
			thing := one
			for _, part := range []string{"/versions/1", "/document"} {
				thing = strings.TrimSuffix(thing, part)
			}
			made := func() (etag string) {
				t.Helper()
				a := s.ask(s.admin, "POST", c.list, c.body).want(t, 201)
				if at := a.Header.Get("Location"); at != thing && !strings.HasSuffix(at, thing) {
					t.Fatalf("it is at %s, not at %s", at, thing)
				}
				return s.ask(s.admin, "GET", one, nil).want(t, 200).etag()
			}
			remove := func(status int, etag string) {
				t.Helper()
				s.ask(s.admin, "DELETE", thing, nil, "If-Match", etag).want(t, status)
			}
			first := made()
			seen := s.ask(s.admin, "GET", thing, nil).want(t, 200).etag()
			remove(204, seen)
			if again := made(); again == first {
				t.Errorf("its ETag is %s once more", again)
			}
			s.ask(s.admin, "GET", one, nil, "If-None-Match", first).want(t, 200)
			remove(412, seen)
			remove(204, s.ask(s.admin, "GET", thing, nil).etag())
		})
	}
}
