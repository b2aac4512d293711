package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The words of in-toto and SLSA, which the checkers of others look for.
const (
	statementType  = "https://in-toto.io/Statement/v1"
	provenanceType = "https://slsa.dev/provenance/v1"
	payloadType    = "application/vnd.in-toto+json"
)

type (
	// resource is a file or a source with its digest, by the algorithm's name.
	resource struct {
		Name   string            `json:"name,omitempty"`
		URI    string            `json:"uri,omitempty"`
		Digest map[string]string `json:"digest,omitempty"`
	}
	// statement says from which commit and by which tools the files were made.
	statement struct {
		Type          string     `json:"_type"`
		Subject       []resource `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     struct {
			BuildDefinition struct {
				BuildType            string            `json:"buildType"`
				ExternalParameters   map[string]string `json:"externalParameters"`
				ResolvedDependencies []resource        `json:"resolvedDependencies"`
			} `json:"buildDefinition"`
			RunDetails struct {
				Builder struct {
					ID string `json:"id"`
				} `json:"builder"`
			} `json:"runDetails"`
		} `json:"predicate"`
	}
	// envelope is a DSSE envelope: a payload and who signed it.
	envelope struct {
		PayloadType string      `json:"payloadType"`
		Payload     string      `json:"payload"`
		Signatures  []signature `json:"signatures"`
	}
	signature struct {
		KeyID string `json:"keyid"`
		Sig   string `json:"sig"`
	}
)

// signingKey reads an Ed25519 key, such as "openssl genpkey -algorithm ed25519" makes.
func signingKey(name string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no PEM file; make a key with: openssl genpkey -algorithm ed25519 -out %[1]s", name)
	}
	read, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, isEd := read.(ed25519.PrivateKey)
	if err != nil || !isEd {
		return nil, fmt.Errorf("%s holds no Ed25519 key; make one with: openssl genpkey -algorithm ed25519 -out %[1]s", name)
	}
	return key, nil
}

// commit returns the hash of the commit that is built. A changed tree has none.
func commit() (string, error) {
	changed, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil {
		return "", fmt.Errorf("ask git for changes: %w", err)
	}
	if len(changed) > 0 {
		return "", errors.New("this tree has changes that are not committed, so no commit can be signed for; commit them first")
	}
	hash, err := exec.Command("git", "rev-parse", "HEAD").Output()
	return strings.TrimSpace(string(hash)), err
}

// provenance is the signed statement about the files of a folder. It depends on them, the commit and the tools alone.
func provenance(out string, names []string, version, commit string, key ed25519.PrivateKey) ([]byte, error) {
	var s statement
	s.Type, s.PredicateType = statementType, provenanceType
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		s.Subject = append(s.Subject, resource{Name: name, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}})
	}
	d := &s.Predicate.BuildDefinition
	d.BuildType = "urn:headroom:make-release"
	d.ExternalParameters = map[string]string{"version": version}
	d.ResolvedDependencies = []resource{
		{Name: "source", URI: "git+commit:" + commit, Digest: map[string]string{"gitCommit": commit}},
		{Name: "go", URI: "pkg:golang/toolchain@" + runtime.Version()},
	}
	s.Predicate.RunDetails.Builder.ID = "urn:headroom:make-release"
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	// What is signed names the type and both lengths, so that no other text has the same signature.
	signed := fmt.Sprintf("DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
	id := sha256.Sum256(key.Public().(ed25519.PublicKey))
	text, err := json.Marshal(envelope{payloadType, base64.StdEncoding.EncodeToString(payload),
		[]signature{{hex.EncodeToString(id[:]), base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(signed)))}}})
	return append(text, '\n'), err
}
