package app

import (
	"context"
	"encoding/json"
	"io"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
)

// reportBehind writes which plans held.
func (a *App) reportBehind(ctx context.Context, cluster string, in reporting.ReportInput, to io.Writer, progress func(runs.Progress)) error {
	progress(runs.Progress{Total: 1, Unit: "report"})
	past, err := a.Plans.Past(ctx, cluster, in.From, in.Until)
	if err != nil {
		return err
	}
	switch in.Format {
	case reporting.ReportXLSX:
		err = report.PastWorkbook(to, cluster, past)
	case reporting.ReportCSV:
		err = report.Past(past).CSV(to)
	default:
		err = json.NewEncoder(to).Encode(past)
	}
	progress(runs.Progress{Done: 1, Total: 1, Unit: "report"})
	return err
}

// reportAhead writes the future need.
func (a *App) reportAhead(ctx context.Context, cluster string, in reporting.ReportInput, to io.Writer, progress func(runs.Progress)) error {
	asked, err := a.Questions.ClusterMonths(ctx, cluster,
		horizon.ClusterHorizonQuestion{Span: horizon.Span{From: in.From, Until: in.Until}, Detail: horizon.DetailClasses})
	if err != nil {
		return err
	}
	months := question.Months
	answer, err := months.Work(ctx, a.Questions.InTurns("", months.Unit, progress), asked)
	if err != nil {
		return err
	}
	if write := months.Forms(asked, *answer, question.View{Per: report.PerPeriod, Cluster: cluster})[string(in.Format)]; write != nil {
		return write(to)
	}
	return json.NewEncoder(to).Encode(months.Document(&asked, answer))
}
