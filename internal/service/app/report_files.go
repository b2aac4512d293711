package app

import (
	"context"
	"encoding/json"
	"io"

	"headroom/internal/ask/horizon"
	"headroom/internal/service/report"
	"headroom/internal/service/reporting"
	"headroom/internal/service/runs"
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
	asked, err := a.ClusterHorizon(ctx, cluster, horizon.ClusterHorizonQuestion{Span: horizon.Span{From: in.From, Until: in.Until}, Detail: horizon.DetailClasses})
	if err != nil {
		return err
	}
	course, err := a.horizonInTurns(ctx, asked, progress)
	if err != nil {
		return err
	}
	answer := asked.answered(course)
	switch in.Format {
	case reporting.ReportXLSX:
		return report.HorizonWorkbook(to, asked.Horizon, answer)
	case reporting.ReportCSV:
		return report.Horizon(answer, report.PerPeriod).CSV(to)
	case reporting.ReportFocus:
		return report.Focus(to, asked.Horizon, answer, report.FocusNames{SubAccountID: cluster})
	}
	answer.Show(asked.Detail)
	return json.NewEncoder(to).Encode(answer)
}
