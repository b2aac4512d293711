package app

import (
	"context"

	"example.org/headroom/internal/service/plans"
)

// Once does something at most once per principal and key (see DatabaseStore).
func (a *App) Once(ctx context.Context, key OnceKey, do func(context.Context) (Answer, error)) (Answer, bool, error) {
	ctx, settle := plans.JoinChanges(ctx)
	defer settle()
	return a.Stores.Database.Once(ctx, key, do)
}
