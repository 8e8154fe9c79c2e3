package kube

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"rackparams/pkg/shape"
)

// maxAnswerBytes is how long an answer to Get may be. The nodes of the largest clusters are some hundred MiB.
const maxAnswerBytes = 1 << 30

// CheckPath says why Get takes no path, or returns nil.
func CheckPath(path string) error {
	quoted := shape.Quote(path)
	switch {
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("the path %s does not begin with a slash; write one such as %s/apis/karpenter.sh/v1/nodepools", quoted, RackAPIPath)
	case strings.ContainsAny(path, "?#"):
		return fmt.Errorf("the path %s has a query string, which is not sent along; leave out what begins with ? or #, and choose from the answer, with jq for instance", quoted)
	}
	plain, err := url.PathUnescape(path)
	if err != nil || strings.ContainsFunc(plain, unicode.IsControl) {
		return fmt.Errorf("the path %s is not a path of the API", quoted)
	}
	for segment := range strings.SplitSeq(plain, "/") {
		switch segment {
		case "proxy":
			return fmt.Errorf("the path %s has a proxy/ segment, which would reach past the API into a service, a pod or a node; leave it out", quoted)
		case ".", "..":
			return fmt.Errorf("the path %s has a segment %q; write the path that is meant", quoted, segment)
		}
	}
	return nil
}

// Get returns what a path holds, and whether it is given out as JSON. The path is one that CheckPath takes.
func (c *Client) Get(ctx context.Context, path string) (data []byte, isJSON bool, err error) {
	if err := CheckPath(path); err != nil {
		return nil, false, err
	}
	// The answer has to begin in time; the nodes of a large cluster may take longer to arrive.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(requestTimeout, func() { cancel(context.DeadlineExceeded) })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.target(path).String(), nil)
	if err != nil {
		return nil, false, fmt.Errorf("the path %s is not a path of the API", shape.Quote(path))
	}
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	answer, err := c.http.Do(request)
	timer.Stop()
	if err != nil {
		return nil, false, c.explain(cmp.Or(context.Cause(ctx), err))
	}
	defer answer.Body.Close()
	data, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, false, c.explain(err)
	case len(data) > maxAnswerBytes:
		return nil, false, fmt.Errorf("the answer for %s is longer than the %d MiB that are read", shape.Quote(path), maxAnswerBytes>>20)
	case answer.StatusCode/100 != 2:
		return nil, false, c.refusal(answer.StatusCode, data, path)
	}
	mediaType, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return data, mediaType == "application/json", nil
}
