package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"rackparams/pkg/shape"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Error is why a request failed, in words for a person. What it wraps is the error of the library.
type Error struct {
	message string
	err     error
}

func (e *Error) Error() string { return e.message }
func (e *Error) Unwrap() error { return e.err }

// explain says why a request failed.
func (c *Client) explain(err error) error {
	if err == nil {
		return nil
	}
	var explained *Error
	if errors.As(err, &explained) {
		return err
	}
	return &Error{c.say(err), err}
}

// windowsRefused is what Windows says where others say ECONNREFUSED. There, Go has a number of its own for that name.
const windowsRefused = syscall.Errno(10061)

func (c *Client) say(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return c.sayStatus(status.Status())
	}
	host := c.Host()
	var (
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
		certificate *tls.CertificateVerificationError
		noHost      *net.DNSError
		record      tls.RecordHeaderError
		timeout     net.Error
	)
	switch {
	case errors.As(err, &authority):
		return fmt.Sprintf("the certificate of %s is signed by an authority that is not known here; %s", host, c.whereAuthorities())
	case errors.As(err, &hostname):
		return fmt.Sprintf("the certificate of %s is for another host: %s", host, hostname.Error())
	case errors.As(err, &certificate):
		return fmt.Sprintf("the certificate of %s is not valid: %s", host, certificate.Err)
	case errors.As(err, &record):
		return fmt.Sprintf("%s does not speak TLS; is it the right address?", host)
	case errors.As(err, &noHost):
		return fmt.Sprintf("there is no host %s: %s", shape.Shorten(noHost.Name), noHost.Err)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, windowsRefused):
		return fmt.Sprintf("nothing answers at %s: the connection was refused; is the cluster up, and is this the one that is meant?", host)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("%s did not answer within %s", host, requestTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Sprintf("%s broke off the connection", host)
	}
	// The URL is left out: the host says enough.
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return fmt.Sprintf("reaching %s: %s", host, err)
}

func (c *Client) whereAuthorities() string {
	if c.rack != nil {
		return "name its certificate in SSL_CERT_FILE"
	}
	return "name it in the kubeconfig, as certificate-authority"
}

// sayStatus says what a refusal of the API server means.
func (c *Client) sayStatus(status metav1.Status) string {
	message := strings.TrimSpace(status.Message)
	switch {
	case status.Code == http.StatusUnauthorized:
		return fmt.Sprintf("%s does not know these credentials, or they have expired (401%s); log in again, or name others", c.Host(), inBrackets(message, "Unauthorized"))
	case status.Code == http.StatusForbidden && message != "":
		return message
	case status.Code >= http.StatusInternalServerError, status.Code == http.StatusTooManyRequests, message == "":
		return fmt.Sprintf("%s answered %s%s", c.Host(), describeCode(int(status.Code)), afterColon(message))
	}
	return message
}

func afterColon(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

func inBrackets(message, unless string) string {
	if message == unless {
		return ""
	}
	return afterColon(message)
}

func describeCode(code int) string {
	return strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code)))
}

// refusal is the error of an answer to a plain GET that is none of success.
func (c *Client) refusal(code int, body []byte, path string) error {
	status := statusOf(code, body)
	message := c.sayStatus(status)
	switch {
	case code/100 == 3:
		message = fmt.Sprintf("%s answered %s, and redirects are not followed; name the address that is meant", c.Host(), describeCode(code))
	case code == http.StatusNotFound:
		message = fmt.Sprintf("%s has no %s (404%s)", c.Host(), shape.Quote(path), inBrackets(strings.TrimSpace(status.Message), "404 page not found"))
		if c.rack != nil && !strings.HasPrefix(path, RackAPIPath+"/") {
			message += "; the Kubernetes API of a rack is below " + RackAPIPath
		}
	}
	return &Error{message, &apierrors.StatusError{ErrStatus: status}}
}

// statusOf is the refusal in a body: of the API server, or of a proxy, which has a form of its own or none.
func statusOf(code int, body []byte) metav1.Status {
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Kind != "Status" {
		status = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Message: messageOf(body)}
		status.Reason = reasons[code]
	}
	status.Code = int32(code)
	return status
}

// reasons are by which the library tells refusals apart.
var reasons = map[int]metav1.StatusReason{
	http.StatusUnauthorized: metav1.StatusReasonUnauthorized,
	http.StatusForbidden:    metav1.StatusReasonForbidden,
	http.StatusNotFound:     metav1.StatusReasonNotFound,
}

// messageOf is the text of a refusal that is not the API server's.
func messageOf(body []byte) string {
	var inJSON struct{ Error, Message string }
	if json.Unmarshal(body, &inJSON) == nil {
		if inJSON.Error != "" {
			return inJSON.Error
		}
		return inJSON.Message
	}
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") { // a page for browsers
		return ""
	}
	return shape.Shorten(text)
}

// proxyErrors writes the refusals of a rack's proxy in the API server's form, so that the library takes their words.
type proxyErrors struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (p proxyErrors) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := p.next.RoundTrip(request)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	if text, err := json.Marshal(statusOf(answer.StatusCode, body)); err == nil {
		body = text
		answer.Header.Set("Content-Type", "application/json")
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
	return answer, nil
}

// IsDenied reports whether the API server does not let the user do something.
func IsDenied(err error) bool { return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) }

// IsPassing reports whether a request may well succeed when it is sent again: the API server was not reached, is starting,
// or has too much to do.
func IsPassing(err error) bool {
	if err == nil {
		return false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	var inNetwork *net.OpError
	var timeout net.Error
	return errors.As(err, &inNetwork) || errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || isBrokenOff(err)
}

// isBrokenOff reports whether err is one of a connection that has gone whose type the standard library does not export.
func isBrokenOff(err error) bool {
	text := err.Error()
	return strings.Contains(text, "http2: ") || strings.Contains(text, "server closed idle connection")
}
