package api

import (
	"context"
	"fmt"
	"strconv"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/report"
)

func (s *server) ListProfiles(ctx context.Context, r ListProfilesRequest) (reply[ProfileList], error) {
	return listed(ctx, s, paging(r.Params), r.Cluster+"-profiles", report.Profiles, func(ctx context.Context, p storage.Page) (storage.Listed[inputs.ProfileVersion], error) {
		return s.app.Stores.Profiles.Profiles(ctx, r.Cluster, p)
	})
}

func (s *server) CreateProfile(ctx context.Context, r CreateProfileRequest) (reply[Profile], error) {
	p, err := s.app.Clusters.CreateProfile(ctx, r.Cluster, *r.Body)
	return reply[Profile]{body: p, etag: quoted(p.Tag()), created: p.Name}, err
}

func (s *server) GetProfile(ctx context.Context, r GetProfileRequest) (reply[Profile], error) {
	p, err := s.app.Stores.Profiles.Profile(ctx, r.Cluster, r.Name, 0)
	return reply[Profile]{body: p, etag: quoted(p.Tag())}, err
}

func (s *server) DeleteProfile(ctx context.Context, r DeleteProfileRequest) (reply[nothing], error) {
	tag, err := seenTag(r.Params.IfMatch)
	if err != nil {
		return done(err)
	}
	return done(s.app.Stores.Profiles.DeleteProfile(ctx, r.Cluster, r.Name, tag))
}

func (s *server) ListProfileVersions(ctx context.Context, r ListProfileVersionsRequest) (reply[ProfileList], error) {
	return listed(ctx, s, paging(r.Params), r.Cluster+"-profile-versions", report.Profiles, func(ctx context.Context, p storage.Page) (storage.Listed[inputs.ProfileVersion], error) {
		return s.app.Stores.Profiles.ProfileVersions(ctx, r.Cluster, r.Name, p)
	})
}

func (s *server) AddProfileVersion(ctx context.Context, r AddProfileVersionRequest) (reply[Profile], error) {
	if err := sameName("/name", r.Name, r.Body.Name); err != nil {
		return reply[Profile]{}, err
	}
	p, err := s.app.Clusters.AddProfileVersion(ctx, r.Cluster, *r.Body)
	return reply[Profile]{body: p, etag: quoted(p.Tag()), created: strconv.FormatInt(p.Version, 10)}, err
}

func (s *server) GetProfileVersion(ctx context.Context, r GetProfileVersionRequest) (reply[Profile], error) {
	p, err := s.app.Stores.Profiles.Profile(ctx, r.Cluster, r.Name, r.Version)
	return reply[Profile]{body: p, etag: quoted(p.Tag())}, err
}

func (s *server) GetDocument(ctx context.Context, r GetDocumentRequest) (reply[Document], error) {
	// The version is read first: of a document that changes in between it is the older one, which a
	// later If-Match refuses rather than overwrite something unseen.
	c, err := s.app.Stores.Inputs.Cluster(ctx, r.Cluster)
	if err != nil {
		return reply[Document]{}, err
	}
	d, err := s.app.Stores.Inputs.Document(ctx, r.Cluster)
	return versioned(d, c.InputsVersion, err)
}

func (s *server) ApplyDocument(ctx context.Context, r ApplyDocumentRequest) (reply[Applied], error) {
	dryRun := r.Params.DryRun != nil && *r.Params.DryRun
	version, err := appliedTo(r.Params, dryRun)
	if err == nil {
		err = sameName("/cluster/name", r.Cluster, r.Body.Cluster.Name)
	}
	if err != nil {
		return reply[Applied]{}, err
	}
	a, err := s.app.Clusters.Apply(ctx, version, *r.Body, dryRun)
	return versioned(a, a.Version, err)
}

// appliedTo returns the inputs_version that a document is for, 0 for a new cluster.
func appliedTo(p ApplyDocumentParams, dryRun bool) (int64, error) {
	if dryRun && p.IfNoneMatch == nil && p.IfMatch == nil {
		return 0, nil
	}
	return versionOrNew(p.IfMatch, p.IfNoneMatch, "the cluster", "Send If-Match with the cluster's inputs_version in quotes (the ETag of its document), or If-None-Match: * for a new cluster.")
}

// versionOrNew returns the version to replace, or 0 if the thing must not exist yet.
func versionOrNew(ifMatch, ifNoneMatch *string, what, needed string) (int64, error) {
	switch {
	case ifNoneMatch != nil && ifMatch != nil:
		return 0, refusal{aboutParameter("If-Match", "one_of", fmt.Sprintf("Send If-None-Match: * where %s must not exist yet or If-Match for what exists, not both.", what), nil)}
	case ifNoneMatch != nil && *ifNoneMatch != "*":
		return 0, refusal{aboutParameter("If-None-Match", "type", fmt.Sprintf("Of If-None-Match only * is understood here; it says that %s must not exist yet.", what), nil)}
	case ifNoneMatch != nil:
		return 0, nil
	case ifMatch == nil:
		return 0, refusal{versionNeeded.problem(needed)}
	}
	return seenVersion(ifMatch)
}
