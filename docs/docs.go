// Package docs holds the documentation, so that a server shows it without files beside it.
package docs

import "embed"

// Files holds the pages in Markdown.
//
//go:embed *.md tutorials concepts how-to reference research decisions
var Files embed.FS
