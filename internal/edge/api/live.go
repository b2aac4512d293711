package api

import (
	"context"
	"net/http"
	"strconv"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/slots/live"
)

func (s *server) GetLiveSettings(ctx context.Context, r GetLiveSettingsRequest) (reply[LiveSettings], error) {
	settings, err := s.app.Stores.Live.LiveSettings(ctx, r.Cluster)
	return versioned(settings, settings.Version, err)
}

func (s *server) ReplaceLiveSettings(ctx context.Context, r ReplaceLiveSettingsRequest) (reply[LiveSettings], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err != nil {
		return reply[LiveSettings]{}, err
	}
	settings, err := s.app.Live.SetSettings(ctx, r.Cluster, version, *r.Body)
	return versioned(settings, settings.Version, err)
}

func (s *server) ListLiveNodes(ctx context.Context, r ListLiveNodesRequest) (reply[LiveNodeList], error) {
	return listed(ctx, s, paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, r.Cluster+"-nodes", report.LiveNodes, func(ctx context.Context, p storage.Page) (storage.Listed[live.LiveNode], error) {
		return s.app.Live.Nodes(ctx, r.Cluster, p)
	})
}

func (s *server) GetLiveNode(ctx context.Context, r GetLiveNodeRequest) (reply[LiveNode], error) {
	return plain(s.app.Live.Node(ctx, r.Cluster, r.Node))
}

func (s *server) PutLiveNode(ctx context.Context, r PutLiveNodeRequest) (reply[LiveNode], error) {
	declared := *r.Body
	declared.Name = r.Node
	return plain(s.app.Live.PutNode(ctx, r.Cluster, declared))
}

func (s *server) RemoveLiveNode(ctx context.Context, r RemoveLiveNodeRequest) (reply[nothing], error) {
	return done(s.app.Live.RemoveNode(ctx, r.Cluster, r.Node))
}

func (s *server) GetClassifier(ctx context.Context, r GetClassifierRequest) (reply[Knowledge], error) {
	return plain(s.app.Stores.Live.Classifier(ctx, r.Cluster))
}

func (s *server) Relearn(ctx context.Context, r RelearnRequest) (reply[Knowledge], error) {
	return plain(s.app.Live.Relearn(ctx, r.Cluster))
}

// heartbeat handles a node's report. There are many, so that their bodies are read by hand.
func (s *server) heartbeat(w http.ResponseWriter, r *http.Request) {
	text := bodyOf(r)
	h, err := live.ReadHeartbeat(text)
	if err = readingProblem(err); err == nil {
		if text, err = s.app.Live.Heartbeat(r.Context(), pathValue(r, "cluster"), pathValue(r, "node"), h, text); err == nil {
			writeJSON(w, http.StatusOK, text)
			return
		}
	}
	s.fail(w, r, err)
}

func (s *server) ListLiveJobs(ctx context.Context, r ListLiveJobsRequest) (reply[LiveJobList], error) {
	var of heartbeat.JobFilter
	if r.Params.State != nil {
		of.State = live.JobState(*r.Params.State)
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-jobs", report.LiveJobs, func(ctx context.Context, p storage.Page) (storage.Listed[live.LiveJob], error) {
		return s.app.Live.Jobs(ctx, r.Cluster, of, p)
	})
}

func (s *server) CreateLiveJob(ctx context.Context, r CreateLiveJobRequest) (reply[LiveJob], error) {
	j, err := s.app.Live.SubmitJob(ctx, r.Cluster, *r.Body)
	if j.State == live.JobRefused {
		return reply[LiveJob]{body: j, retry: j.Admission.RetryAfterSeconds}, err
	}
	return reply[LiveJob]{body: j, created: strconv.FormatInt(j.Number, 10)}, err
}

func (s *server) GetLiveJob(ctx context.Context, r GetLiveJobRequest) (reply[LiveJob], error) {
	return plain(s.app.Live.Job(ctx, r.Cluster, r.Job))
}

func (s *server) KillLiveJob(ctx context.Context, r KillLiveJobRequest) (reply[nothing], error) {
	return done(s.app.Live.KillJob(ctx, r.Cluster, r.Job))
}

func (s *server) ListLiveDecisions(ctx context.Context, r ListLiveDecisionsRequest) (reply[LiveDecisionList], error) {
	var of heartbeat.DecisionFilter
	if r.Params.From != nil {
		of.From = *r.Params.From
	}
	if r.Params.Until != nil {
		of.Until = *r.Params.Until
	}
	if r.Params.Node != nil {
		of.Node = *r.Params.Node
	}
	if r.Params.Job != nil {
		of.Job = *r.Params.Job
	}
	if r.Params.Outcome != nil {
		of.Outcome = live.TaskOutcome(*r.Params.Outcome)
	}
	page := paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}
	return listed(ctx, s, page, r.Cluster+"-decisions", report.LiveDecisions, func(ctx context.Context, p storage.Page) (storage.Listed[live.LiveDecision], error) {
		return s.app.Live.Decisions(ctx, r.Cluster, of, p)
	})
}

func (s *server) DryRunPolicy(ctx context.Context, r DryRunPolicyRequest) (reply[PolicyTrial], error) {
	return plain(s.app.Live.DryRunPolicy(ctx, r.Cluster, *r.Body))
}
