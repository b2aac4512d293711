package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report"
)

// poolMachineList holds machines as sent, storageSampleBatch samples, and storageSamplesTaken their treatment.
type (
	poolMachineList struct {
		Machines []pool.PoolMachine `json:"machines"`
	}
	storageSampleBatch struct {
		Samples []pool.StorageSampleRequest `json:"samples"`
	}
	storageSamplesTaken struct {
		Samples int64 `json:"samples"`
	}
)

// currentPoolPlan is a pool's current plan with its freshness.
type currentPoolPlan struct {
	pool.PoolPlanRecord
	Freshness plans.PoolFreshness `json:"freshness"`
}

func (s *server) GetPoolSettings(ctx context.Context, r GetPoolSettingsRequest) (reply[PoolSettings], error) {
	settings, err := s.app.Stores.StoredPools.PoolSettings(ctx, r.Cluster)
	return versioned(settings, settings.Version, err)
}

func (s *server) ReplacePoolSettings(ctx context.Context, r ReplacePoolSettingsRequest) (reply[PoolSettings], error) {
	version, err := versionOrNew(r.Params.IfMatch, r.Params.IfNoneMatch, "the pool's settings", "Send If-Match with the ETag of the settings, or If-None-Match: * where there are none yet.")
	if err != nil {
		return reply[PoolSettings]{}, err
	}
	settings, err := s.app.Pools.SetSettings(ctx, r.Cluster, version, *r.Body)
	return versioned(settings, settings.Version, err)
}

func (s *server) DeletePoolSettings(ctx context.Context, r DeletePoolSettingsRequest) (reply[nothing], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err == nil {
		err = s.app.Stores.StoredPools.DeletePoolSettings(ctx, r.Cluster, version)
	}
	return done(err)
}

func (s *server) GetPoolBasis(ctx context.Context, r GetPoolBasisRequest) (reply[PoolBasis], error) {
	return plain(s.app.Pools.Basis(ctx, r.Cluster))
}

func (s *server) GetPoolMachines(ctx context.Context, r GetPoolMachinesRequest) (reply[PoolMachines], error) {
	machines, err := s.app.Stores.StoredPools.PoolMachines(ctx, r.Cluster)
	return reply[PoolMachines]{body: machines, hashed: true}, err
}

func (s *server) ReplacePoolMachines(ctx context.Context, r ReplacePoolMachinesRequest) (reply[PoolMachines], error) {
	return plain(s.app.Pools.SetMachines(ctx, r.Cluster, r.Body.Machines))
}

func (s *server) ListStorageSamples(ctx context.Context, r ListStorageSamplesRequest) (reply[StorageSampleList], error) {
	return listed(ctx, s, paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, r.Cluster+"-storage", report.StorageSamples, func(ctx context.Context, p storage.Page) (storage.Listed[pool.StorageSample], error) {
		return s.app.Stores.StoredPools.StorageSamples(ctx, r.Cluster, p)
	})
}

func (s *server) AddStorageSamples(ctx context.Context, r AddStorageSamplesRequest) (reply[StorageSamplesTaken], error) {
	taken, err := s.app.Pools.SampleStorage(ctx, r.Cluster, r.Body.Samples)
	return plain(StorageSamplesTaken{Samples: taken}, err)
}

func (s *server) ListPoolPlans(ctx context.Context, r ListPoolPlansRequest) (reply[PoolPlanList], error) {
	l, err := listed(ctx, s, paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, r.Cluster+"-pool-plans", report.PoolPlans, func(ctx context.Context, p storage.Page) (storage.Listed[pool.PoolPlanSummary], error) {
		return s.app.Stores.StoredPools.PoolPlans(ctx, r.Cluster, p)
	})
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) GetPoolPlan(ctx context.Context, r GetPoolPlanRequest) (reply[PoolPlanRecord], error) {
	record, err := s.app.Stores.StoredPools.PoolPlan(ctx, r.Cluster, r.Number)
	return versioned(record, record.Number, err)
}

// polledPool returns the current plan of a polled pool, and whether this server may have missed a newer one.
func (s *server) polledPool(r *http.Request) (shown *plans.ShownPool, old bool, err error) {
	if r.URL.RawQuery != "" {
		if err := s.operationOf(r).checkParameters(r); err != nil {
			return nil, false, err
		}
	}
	shown, err = s.app.Pools.Shown(r.Context(), pathValue(r, "cluster"))
	return shown, !s.reachable(), err
}

// answerPool writes an answer about a shown plan, which is made once a second at most.
func (s *server) answerPool(w http.ResponseWriter, r *http.Request, shown *plans.ShownPool, question string, old bool, write func(now time.Time) ([]byte, string, error)) {
	now := s.app.Now()
	text, err := shown.Text(fmt.Sprint(question, old), now.Unix(), func() ([]byte, string, error) { return write(now) })
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	h["Etag"] = text.ETag
	if matches(r.Header["If-None-Match"], strings.TrimPrefix(text.ETag[0], "W/")) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answerText(w, r, text)
}

// getCurrentPoolPlan answers the current plan of a pool with how fresh it is.
func (s *server) getCurrentPoolPlan(w http.ResponseWriter, r *http.Request) {
	shown, old, err := s.polledPool(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.answerPool(w, r, shown, "plan", old, func(now time.Time) ([]byte, string, error) {
		freshness := shown.Freshness(now)
		freshness.Stale = freshness.Stale || old
		text, err := json.Marshal(currentPoolPlan{shown.Record, freshness})
		return append(text, '\n'), fmt.Sprintf(`"%s-%t"`, shown.Tag(), freshness.Stale), err
	})
}

// getPoolScaling answers the targets for autoscalers of a pool. Its ETag is weak: only the age differs between two
// with the same one.
func (s *server) getPoolScaling(w http.ResponseWriter, r *http.Request) {
	shown, old, err := s.polledPool(r)
	if err != nil {
		if problemOf(err).Status == http.StatusNotFound {
			if _, unknown := s.app.Stores.StoredPools.PoolSettings(r.Context(), pathValue(r, "cluster")); unknown == nil { // it passes
				err = fmt.Errorf("%s: %w", strings.TrimSuffix(sentence(err, fault.NotFound), "."), fault.Busy)
			}
		}
		s.fail(w, r, err)
		return
	}
	s.answerPool(w, r, shown, "scaling", old, func(now time.Time) ([]byte, string, error) {
		document := shown.ScalingAt(now, shown.Schedule)
		document.Stale = document.Stale || old
		text, err := json.Marshal(document)
		if err != nil {
			return nil, "", fmt.Errorf("write the scaling document of a pool: %w", err)
		}
		next := int64(0)
		if len(document.Next) > 0 {
			next = document.Next[0].At.Unix()
		}
		return append(text, '\n'), fmt.Sprintf(`W/"%s-%d-%t"`, shown.Tag(), next, document.Stale), nil
	})
}
