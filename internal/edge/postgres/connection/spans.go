package connection

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/trace"
)

// Spans of statements have only a name: neither arguments, nor the text, nor the database's messages.

// beginStatement begins the span of a statement, below the one of the context.
func beginStatement(ctx context.Context, sql string) context.Context {
	if trace.From(ctx) == nil {
		return ctx
	}
	ctx, span := trace.Begin(ctx, statementName(sql), trace.Client)
	span.Text("db.system.name", "postgresql")
	return ctx
}

func beginBatch(ctx context.Context, batch *pgx.Batch) context.Context {
	ctx, span := trace.Begin(ctx, "BATCH", trace.Client)
	if span != nil {
		span.Text("db.system.name", "postgresql")
		span.Count("db.operation.batch.size", int64(batch.Len()))
	}
	return ctx
}

func endStatement(ctx context.Context, err error) {
	span := trace.From(ctx)
	if err != nil {
		span.Fail()
	}
	span.End()
}

var (
	firstWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\s+|--[^\n]*\n|/\*[^*]*\*/)*([A-Za-z]+)`) })
	ofTable   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:from|into|update|join)\s+(?:only\s+)?([a-z_][a-z0-9_]*)`)
	})
	verbs = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET", "LISTEN", "UNLISTEN", "COPY", "LOCK"}
)

// statementName returns the verb and the table of a statement, such as "UPDATE clusters".
func statementName(sql string) string {
	verb := ""
	if found := firstWord().FindStringSubmatch(sql); found != nil {
		verb = strings.ToUpper(found[1])
	}
	if !slices.Contains(verbs, verb) {
		return "OTHER"
	}
	if table := ofTable().FindStringSubmatch(sql); table != nil {
		return verb + " " + strings.ToLower(table[1])
	}
	return verb
}
