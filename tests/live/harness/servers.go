// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is an API server that scenarios run against.
type server struct {
	name       string // fake or real
	admin      *client
	folder     string
	kubeconfig string
	authority  []byte
	trust      *authority // of the proxy, and of the real server
	prepared   bool
	manager    bool      // something deletes what goes with its owner or its namespace
	process    *exec.Cmd // that answers requests
	ended      []func()
	reading    sync.Mutex
	log        []written // as far as it was read
	read       int64
}

func (s *server) stop() {
	for at := len(s.ended) - 1; at >= 0; at-- {
		s.ended[at]()
	}
}

// start runs a program with its output in a file of the server's folder.
func (s *server) start(program string, arguments ...string) (*exec.Cmd, error) {
	log, err := os.Create(filepath.Join(s.folder, filepath.Base(program)+".log"))
	if err != nil {
		return nil, err
	}
	made := exec.Command(program, arguments...)
	made.Stdout, made.Stderr = log, log
	dieWithUs(made)
	if err := made.Start(); err != nil {
		return nil, err
	}
	s.ended = append(s.ended, func() {
		// An API server waits a minute for open watches, and holds its port meanwhile.
		made.Process.Kill()
		made.Wait()
		log.Close()
	})
	return made, nil
}

// dieWithUs sees to it that nothing is left running, however the tests end.
func dieWithUs(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	text        []byte
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	wish := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "muster live tests"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, wish, wish, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}, err
}

// issue writes NAME.crt and NAME.key of a server on 127.0.0.1.
func (a *authority) issue(folder, name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	return a.save(folder, name, raw, key)
}

// save writes NAME.crt and NAME.key.
func (a *authority) save(folder, name string, raw []byte, key *ecdsa.PrivateKey) error {
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, name+".crt"),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".key"),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}

// Bearer tokens of the real server; the token is the user's name.
const tokens = `admin,admin,1,"system:masters"
muster-scheduler,muster-scheduler,2,"muster"
muster-controller,muster-controller,3,"muster"
stranger,stranger,4,"nobody"
muster-scheduler-next,muster-scheduler,2,"muster"
`

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

func kubeconfigText(url string, authority []byte, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
clusters:
- name: c
  cluster: {server: "%s", certificate-authority-data: "%s"}
users:
- name: u
  user: {token: "%s"}
contexts:
- name: c
  context: {cluster: c, user: u}
`, url, base64.StdEncoding.EncodeToString(authority), token)
}

// startReal starts etcd, kube-apiserver and, when it is there, kube-controller-manager.
func startReal(binaries, folder string) (*server, error) {
	return startRealWith(binaries, folder, true)
}

// startRealWith starts one that is measured without what takes time beside it: its audit log, and the
// controller manager, which follows all pods.
func startRealWith(binaries, folder string, attended bool) (made *server, err error) {
	made = &server{name: "real", folder: folder}
	defer func() {
		if err != nil {
			made.stop()
		}
	}()
	if err = os.RemoveAll(folder); err != nil {
		return
	}
	if err = os.MkdirAll(folder, 0o700); err != nil {
		return
	}
	etcdPort, err := freePort()
	if err != nil {
		return
	}
	port, err := freePort()
	if err != nil {
		return
	}
	trust, err := newAuthority()
	if err != nil {
		return
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	if err = trust.issue(folder, "apiserver"); err != nil {
		return
	}
	accounts, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return
	}
	public, err := x509.MarshalPKIXPublicKey(&accounts.PublicKey)
	if err != nil {
		return
	}
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	for name, content := range map[string][]byte{
		"ca.crt": trust.text, "tokens.csv": []byte(tokens), "audit.yaml": []byte(auditPolicy),
		"sa.pub": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"sa.key": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
			Bytes: x509.MarshalPKCS1PrivateKey(accounts)}),
		"admin.kubeconfig": []byte(kubeconfigText(url, trust.text, "admin")),
	} {
		if err = os.WriteFile(in(name), content, 0o600); err != nil {
			return
		}
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", etcdPort)
	if _, err = made.start(filepath.Join(binaries, "etcd"), "--data-dir", in("etcd"),
		"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
		"--listen-peer-urls", "http://127.0.0.1:0", "--unsafe-no-fsync=true",
		"--log-level=error"); err != nil {
		return
	}
	audit := []string{}
	if attended {
		audit = []string{"--audit-policy-file=" + in("audit.yaml"), "--audit-log-path=" + in("audit.log")}
	}
	if made.process, err = made.start(filepath.Join(binaries, "kube-apiserver"), append(audit, "--etcd-servers="+etcdURL,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+folder,
		"--tls-cert-file="+in("apiserver.crt"), "--tls-private-key-file="+in("apiserver.key"),
		"--token-auth-file="+in("tokens.csv"), "--authorization-mode=RBAC",
		"--anonymous-auth=false", "--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true", "--endpoint-reconciler-type=none",
		"--service-account-issuer="+url+"/", "--service-account-key-file="+in("sa.pub"),
		"--service-account-signing-key-file="+in("sa.key"),
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection",
		"--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true,VolumeLimitScaling=true",
		"--runtime-config=scheduling.k8s.io/v1alpha2=true",
		"--event-ttl=10m", "--v=1")...); err != nil {
		return
	}
	made.authority = trust.text
	made.trust = trust
	made.kubeconfig = in("admin.kubeconfig")
	made.admin = newClient(url, "admin", trust.text)
	ready := func() bool { code, _ := made.admin.get("/readyz"); return code == 200 }
	if !eventually(90*time.Second, ready) {
		err = fmt.Errorf("kube-apiserver is not ready: see %s", in("kube-apiserver.log"))
		return
	}
	manager := filepath.Join(binaries, "kube-controller-manager")
	if _, missing := os.Stat(manager); missing == nil && attended {
		managerPort, failed := freePort()
		if err = failed; err != nil {
			return
		}
		config := "--kubeconfig=" + made.kubeconfig
		_, err = made.start(manager, config, "--authentication-"+config[2:],
			"--authorization-"+config[2:], "--leader-elect=false",
			"--use-service-account-credentials=false",
			"--service-account-private-key-file="+in("sa.key"), "--root-ca-file="+in("ca.crt"),
			"--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true",
			"--controllers=garbage-collector-controller,pod-garbage-collector-controller,podgroup-protection-controller,"+
				"namespace-controller,job-controller,persistentvolume-binder-controller,ephemeral-volume-controller,resourceclaim-controller",
			"--cert-dir="+in("kcm"), fmt.Sprintf("--secure-port=%d", managerPort))
		made.manager = true
	}
	return
}

var served = regexp.MustCompile(`^serving \d+ nodes? at (https://127\.0\.0\.1:\d+)$`)

// startFake starts `muster up`.
func startFake(muster, folder string, arguments ...string) (*server, error) {
	made := &server{name: "fake", folder: folder, manager: true}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	made.kubeconfig = filepath.Join(folder, "admin.kubeconfig")
	users := filepath.Join(folder, "tokens.csv")
	if err := os.WriteFile(users, []byte(tokens), 0o600); err != nil {
		return nil, err
	}
	arguments = append(arguments, "--tokens", users)
	program := exec.Command(muster, append([]string{"up", "--only-server", "--kubeconfig", made.kubeconfig}, arguments...)...)
	program.Stderr = os.Stderr
	dieWithUs(program)
	out, err := program.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := program.Start(); err != nil {
		return nil, err
	}
	made.process = program
	made.ended = append(made.ended, func() {
		program.Process.Kill()
		program.Wait()
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	found := served.FindStringSubmatch(strings.TrimSpace(line))
	if found == nil {
		made.stop()
		return nil, fmt.Errorf("muster up says %q", line)
	}
	config, err := os.ReadFile(made.kubeconfig)
	if err != nil {
		made.stop()
		return nil, err
	}
	field := func(name string) string {
		match := regexp.MustCompile(name + `: ([^\s}]+)`).FindStringSubmatch(string(config))
		if match == nil {
			return ""
		}
		return match[1]
	}
	made.authority, _ = base64.StdEncoding.DecodeString(field("certificate-authority-data"))
	made.admin = newClient(found[1], field("token"), made.authority)
	made.trust, err = newAuthority()
	if err != nil {
		made.stop()
		return nil, err
	}
	return made, nil
}
