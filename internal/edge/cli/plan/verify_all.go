package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/openapi"
)

// proved counts the checked plans of a cluster.
type proved struct {
	Cluster   string       `json:"cluster"`
	Plans     int          `json:"plans"`
	Removed   int          `json:"removed"` // by retention, since they were listed
	Right     int          `json:"right"`
	NotProved int          `json:"not_proved"`
	Wrong     int          `json:"wrong"`
	WrongOnes []wrongProof `json:"wrong_plans"`
}

// wrongProof is a plan that does not answer its problem.
type wrongProof struct {
	Number int64        `json:"number"`
	Report proof.Report `json:"report"`
}

// verifyAll reads every stored plan with the inputs that it answers and checks it here, so that neither the
// server's planning nor its checking has to be believed.
func verifyAll(c *cobra.Command, to *remote.Connection, out shell.Output, clusters []string) error {
	s, err := to.Open()
	if err != nil {
		return err
	}
	if len(clusters) == 0 {
		if clusters, err = allClusters(s, c.Context()); err != nil {
			return err
		}
	}
	all := []proved{}
	plans, wrong := 0, 0
	for _, name := range clusters {
		p, err := verifyCluster(s, c.Context(), name)
		if err != nil {
			return err
		}
		all = append(all, p)
		plans += p.Plans
		wrong += p.Wrong
	}
	err = out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error {
			if len(all) == 0 {
				_, err := fmt.Fprintln(w, "There is no cluster, so there is no plan to check.")
				return err
			}
			items := make([]json.RawMessage, len(all))
			for i, p := range all {
				if items[i], err = json.Marshal(p); err != nil {
					return err
				}
			}
			table, err := remote.Rows(reflect.TypeFor[proved](), items, []string{"cluster", "plans", "right", "not_proved", "wrong", "removed"})
			if err != nil {
				return err
			}
			if err := table.Text(w); err != nil {
				return err
			}
			for _, p := range all {
				for _, x := range p.WrongOnes {
					for _, check := range x.Report.Checks {
						if check.Outcome == proof.Failed {
							if _, err := fmt.Fprintf(w, "\nPlan %d of cluster %s: %s", x.Number, shell.Shown(p.Cluster), shell.Shown(check.Detail)); err != nil {
								return err
							}
						}
					}
				}
			}
			return nil
		},
		"json": shell.AsJSON(map[string]any{"clusters": all}),
	})
	if err == nil && wrong > 0 {
		return fmt.Errorf("%d of %d stored plans do not answer their problems rightly", wrong, plans)
	}
	return err
}

func allClusters(s *remote.Service, ctx context.Context) ([]string, error) {
	items, err := s.Items(ctx, 0, openapi.ListClusters())
	if err != nil {
		return nil, err
	}
	names := make([]string, len(items))
	for i, item := range items {
		var cluster inputs.Cluster
		if err := json.Unmarshal(item, &cluster); err != nil {
			return nil, err
		}
		names[i] = cluster.Name
	}
	return names, nil
}

func verifyCluster(s *remote.Service, ctx context.Context, cluster string) (proved, error) {
	p := proved{Cluster: cluster, WrongOnes: []wrongProof{}}
	items, err := s.Items(ctx, 0, openapi.ListPlans(cluster, nil))
	if err != nil {
		return p, err
	}
	missing := map[int64]error{}
	for _, item := range items {
		var summary plans.PlanSummary
		if err := json.Unmarshal(item, &summary); err != nil {
			return p, err
		}
		r, answered, err := planAndProblem(s, ctx, cluster, summary.Number)
		if told := (*remote.Problem)(nil); errors.As(err, &told) && told.Status == http.StatusNotFound {
			missing[summary.Number] = err
			continue
		}
		if err != nil {
			return p, err
		}
		p.Plans++
		report := verifyRecord(r, answered)
		if pl, err := capacity.ReadPlanOrRecord(r.text); err == nil { // with what older plans leave out
			if told := toldOf(summary, pl); told != nil {
				report.Outcome = proof.Failed
				report.Checks = append(report.Checks, *told)
			}
		}
		switch report.Outcome {
		case proof.Failed:
			p.Wrong++
			p.WrongOnes = append(p.WrongOnes, wrongProof{r.Number, report})
		case proof.NotProved:
			p.NotProved++
		default:
			p.Right++
		}
	}
	if len(missing) == 0 {
		return p, nil
	}
	// What retention has removed meanwhile is no longer listed either.
	if items, err = s.Items(ctx, 0, openapi.ListPlans(cluster, nil)); err != nil {
		return p, err
	}
	for _, item := range items {
		var summary plans.PlanSummary
		if err := json.Unmarshal(item, &summary); err != nil {
			return p, err
		}
		if err := missing[summary.Number]; err != nil {
			return p, err
		}
	}
	p.Removed = len(missing)
	return p, nil
}

func planAndProblem(s *remote.Service, ctx context.Context, cluster string, number int64) (r record, p capacity.Problem, err error) {
	if r, err = planOf(s, ctx, cluster, strconv.FormatInt(number, 10)); err == nil {
		p, err = problemOfPlan(s, ctx, r)
	}
	return r, p, err
}

// verifyRecord checks a plan as it is written, not as it can be understood.
func verifyRecord(r record, answered capacity.Problem) proof.Report {
	pl, err := capacity.ReadPlanOrRecord(r.text)
	if err != nil {
		return proof.Report{Outcome: proof.Failed, Checks: []proof.Check{{Name: "document", Outcome: proof.Failed,
			Detail: "The plan is not written as plans are: " + err.Error()}}}
	}
	return proof.Verify(answered, pl, proof.Options{})
}

// toldOf says what lists and polls tell of a plan that is not in it.
func toldOf(told plans.PlanSummary, p capacity.Plan) *proof.Check {
	is := plans.Summarize(p)
	for _, x := range []struct {
		what     string
		told, is any
	}{
		{"status", told.Status, is.Status}, {"currency", told.Currency, is.Currency},
		{"length of a period", told.PeriodSeconds, is.PeriodSeconds},
		{"number of VMs", told.VMs, is.VMs}, {"number of VMs on demand", told.VMsOnDemand, is.VMsOnDemand},
		{"number of spot VMs", told.VMsSpot, is.VMsSpot},
		{"number of reserved VMs", told.VMsReserved, is.VMsReserved}, {"number of admitted jobs", told.Admitted, is.Admitted},
		{"number of refused jobs", told.Refused, is.Refused},
		{"gap", told.Gap, is.Gap}, {"objective", told.Objective.String(), is.Objective.String()},
		{"sum of bill and penalties", told.TotalCost.String(), is.TotalCost.String()},
		{"bill", told.Bill.String(), is.Bill.String()},
		{"cost on demand", told.OnDemandCost.String(), is.OnDemandCost.String()},
		{"cost of spot VMs", told.SpotCost.String(), is.SpotCost.String()},
		{"cost of reserved VMs", told.ReservedCost.String(), is.ReservedCost.String()},
		{"penalties", told.Penalties.String(), is.Penalties.String()},
	} {
		if x.told != x.is {
			return &proof.Check{Name: "summary", Outcome: proof.Failed,
				Detail: fmt.Sprintf("The %s that lists and polls tell is %v, and in the plan it is %v.", x.what, x.told, x.is)}
		}
	}
	return nil
}
