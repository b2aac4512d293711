package history

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxBytes is how much one history may be when it is unpacked.
const DefaultMaxBytes = 64 << 30

// damage is why a text cannot be read on; what stood before is good.
type damage struct{ detail string }

func (d *damage) Error() string { return d.detail }

// packings are known by their first bytes.
var packings = []struct{ magic, name, cure string }{
	// Here is the place for a reader of zstd.
	{"\x28\xb5\x2f\xfd", "zstd", "unpack it with zstd -d"},
	{"LZ4Block", "Spark's lz4", "copy it with spark.eventLog.compression.codec set to zstd or none"},
	{"\x04\x22\x4d\x18", "lz4", "unpack it with lz4 -d"},
	{"\x82SNAPPY\x00", "Spark's snappy", "copy it with spark.eventLog.compression.codec set to zstd or none"},
	{"\xff\x06\x00\x00sNaPpY", "snappy", "unpack it"},
	{"ZV", "lzf", "copy it with spark.eventLog.compression.codec set to zstd or none"},
	{"BZh", "bzip2", "unpack it with bunzip2"},
	{"\xfd7zXZ\x00", "xz", "unpack it with xz -d"},
	{"PK\x03\x04", "zip", "unpack it and give the files in it"},
}

// unpack is a history without its packing, at most limit bytes of it. What is wrong with the packing comes as
// damage; what the reader itself says stays as it is.
func unpack(r io.Reader, limit int64) (io.Reader, error) {
	u := &unpacked{raw: &heeded{in: r}, limit: limit, left: limit}
	in := bufio.NewReaderSize(u.raw, 64<<10)
	head, err := in.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		zip, err := gzip.NewReader(in)
		if err != nil {
			return nil, u.wrong(err)
		}
		u.text, u.packed = zip, true
		return u, nil
	}
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return nil, &damage{fmt.Sprintf("It is packed with %s, which is not read here; %s.", p.name, p.cure)}
		}
	}
	u.text = in
	return u, nil
}

type unpacked struct {
	raw         *heeded
	text        io.Reader
	packed      bool
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

// wrong makes faults of the packing damage.
func (u *unpacked) wrong(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case u.raw.err != nil:
		return u.raw.err
	case errors.Is(err, gzip.ErrHeader):
		return &damage{"What follows the packed text is not gzip; the file is damaged. Copy it again."}
	case errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return &damage{"The gzip is damaged. Copy the file again."}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &damage{"The gzip is cut off. Copy the file again."}
	}
	return err
}

// heeded keeps what its reader said other than the end, so that a cut connection is not taken for a cut file.
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
