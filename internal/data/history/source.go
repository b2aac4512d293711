package history

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// DefaultMaxBytes bounds the unpacked size of one history.
const DefaultMaxBytes = 64 << 30

// damage is a fault that ends the reading of a text; everything before it is good.
type damage struct{ detail string }

func (d *damage) Error() string { return d.detail }

// foreign lists packings that are not read, by their first bytes.
var foreign = []struct{ magic, name, cure string }{
	{"LZ4Block", "Spark's lz4", "copy it with spark.eventLog.compression.codec set to zstd or none"},
	{"\x04\x22\x4d\x18", "lz4", "unpack it with lz4 -d"},
	{"\x82SNAPPY\x00", "Spark's snappy", "copy it with spark.eventLog.compression.codec set to zstd or none"},
	{"\xff\x06\x00\x00sNaPpY", "snappy", "unpack it"},
	{"ZV", "lzf", "copy it with spark.eventLog.compression.codec set to zstd or none"},
	{"BZh", "bzip2", "unpack it with bunzip2"},
	{"\xfd7zXZ\x00", "xz", "unpack it with xz -d"},
	{"PK\x03\x04", "zip", "unpack it and give the files in it"},
}

// unpack returns the unpacked history, at most limit bytes of it. Faults of the packing are returned as damage; the
// reader's own errors are unchanged.
func unpack(r io.Reader, limit int64) (io.Reader, error) {
	u := &unpacked{raw: &heeded{in: r}, limit: limit, left: limit}
	in := bufio.NewReaderSize(u.raw, 64<<10)
	head, err := in.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		u.packing = "gzip"
		if u.text, err = gzip.NewReader(in); err != nil {
			return nil, u.wrong(err)
		}
		return u, nil
	case isZstd(head):
		u.packing = "zstd"
		// A single decoder needs no goroutines that somebody would have to end.
		if u.text, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)); err != nil {
			return nil, u.wrong(err)
		}
		return u, nil
	}
	for _, p := range foreign {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return nil, &damage{fmt.Sprintf("It is packed with %s, which is not read here; %s.", p.name, p.cure)}
		}
	}
	u.text = in
	return u, nil
}

// maxWindow bounds the window of zstd, which must be held: its default without --ultra or --long.
const maxWindow = 8 << 20

// isZstd recognizes frames of zstd, also the skippable ones that some packers begin with.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

type unpacked struct {
	raw         *heeded
	text        io.Reader
	packing     string // "" means none
	limit, left int64
	err         error // that ended the reading
}

func (u *unpacked) Read(p []byte) (n int, err error) {
	if u.err != nil {
		return 0, u.err
	}
	n, u.err = u.read(p)
	return n, u.err
}

func (u *unpacked) read(p []byte) (int, error) {
	if int64(len(p)) > u.left+1 {
		p = p[:u.left+1]
	}
	n, err := u.text.Read(p)
	if int64(n) > u.left {
		return int(u.left), &damage{fmt.Sprintf("It is more than %d bytes when it is unpacked, which is the limit; raise the limit if that is right.", u.limit)}
	}
	u.left -= int64(n)
	return n, u.wrong(err)
}

// wrong turns faults of the packing into damage.
func (u *unpacked) wrong(err error) error {
	switch {
	case u.raw.err != nil:
		return u.raw.err
	case err == nil, errors.Is(err, io.EOF), u.packing == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &damage{fmt.Sprintf("The %s is cut off. Copy the file again.", u.packing)}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch):
		return &damage{fmt.Sprintf("What follows the packed text is not %s; the file is damaged. Copy it again.", u.packing)}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &damage{fmt.Sprintf("The zstd has a window of more than %d MiB, which would have to be held; pack it without --ultra and --long.", maxWindow>>20)}
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return &damage{"The zstd needs a dictionary that is not here; pack it without one."}
	}
	return &damage{fmt.Sprintf("The %s is damaged. Copy the file again.", u.packing)}
}

// heeded keeps its reader's errors other than the end, so that a cut connection does not look like a cut file.
type heeded struct {
	in  io.Reader
	err error
}

func (h *heeded) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		h.err = err
	}
	return n, err
}
